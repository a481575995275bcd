import type { Selectable } from "kysely"
import type { Tables } from "../schema.ts"

/**
 * What becomes of a text that is to be forgotten, in each column that could hold it. `text` and `json`: it is taken out of
 * the value. `hash`: the value is an id that only has to stay the same, so a hash takes its place. Anything else is the
 * reason for leaving the column alone.
 */
export type Handling = "text" | "json" | "hash" | { because: string }

type Columns<Row> = { [Column in keyof Row]-?: Extract<Row[Column], string> extends never ? never : Column }[keyof Row]

const OURS = { because: "an id that we make, or one of a few fixed words" }
const HASHED = { because: "a hash" }
const AGENTS = { because: "an id of the agent's, by which its own file is recognised" }
const MESSENGERS = { because: "an id of the messenger's" }
const MACHINE = { because: "names a machine, a process or a place of the terminal" }
const PATH = { because: "a path that is still read; the folder itself has that name" }
const SOURCE = { because: "a file that is still read; the name of one that is gone is taken out" }
const SETTING = { because: "a name from the settings" }

/** Every column of text there is: one that is missing here does not compile, and fails a test. */
export const WORD_COLUMNS: { [T in keyof Tables]: Record<Columns<Selectable<Tables[T]>>, Handling> } = {
  projects: { id: OURS, root_uri: PATH },
  project_roots: { seen_uri: PATH, project_id: OURS },
  sessions: {
    ...{ id: OURS, platform: OURS, native_id: AGENTS, project_id: OURS, title: "text", tags: "json", key: "hash" },
    domain: "text",
    ...{ model: "text", git_branch: "text", agent_version: "text", project_path: PATH, origin: OURS },
    logged_by: OURS,
  },
  session_projects: { session_id: OURS, project_id: OURS },
  thoughts: { session_id: OURS, branch_id: "text", text: "text", key: "hash" },
  sources: {
    ...{ platform: OURS, key: SOURCE, path: SOURCE, mode: OURS, inode: MACHINE, head_hash: HASHED, tail_hash: HASHED },
    ...{ memory: "json", skipped: "json", trouble: "text", origin: OURS },
  },
  trusted_paths: { path: PATH },
  followed_folders: { host: MACHINE, path: PATH },
  turns: {
    ...{ session_id: OURS, native_id: AGENTS, kind: OURS, text: "text", model: "text", tool_name: "text" },
    ...{ tool_call_id: AGENTS, usage: "json", metadata: "json" },
  },
  forgotten: { session_hash: HASHED, turn_hash: HASHED },
  session_edges: { session_id: OURS, kind: OURS, parent_platform: OURS, parent_native_id: AGENTS },
  runs: { session_id: OURS, host: MACHINE, pane: MACHINE, start: OURS, end_reason: "text" },
  bindings: { caller_key: "hash", root_uri: PATH, session_id: OURS },
  journal: { kind: OURS, session_id: OURS, project_id: OURS, data: "json", key: "hash" },
  followers: { name: OURS },
  deliveries: {
    ...{ key: "hash", lane: SETTING, channel: OURS, payload: "json", state: OURS, host: MACHINE, lease_owner: MACHINE },
    ...{ outcome: "text", fingerprint: HASHED, session_id: OURS, rung: OURS, fetch_key: "hash" },
  },
  routes: { session_id: OURS, host: MACHINE, process_start: MACHINE, pane: MACHINE },
  posts: { team: SETTING, host: MACHINE, session_id: OURS, native_id: AGENTS, process_start: MACHINE, cause: "text" },
  updates: { team: SETTING, key: "hash", type: OURS, message_id: "hash", session_id: OURS, data: "json" },
  task_states: {
    ...{ project_id: OURS, native_session_id: AGENTS, current_task: "text", current_task_id: "text" },
    ...{ last_completed_step: "text", pending_messages: "json" },
  },
  pairs: {
    id: OURS,
    from_team: SETTING,
    to_team: SETTING,
    thread_id: "hash",
    platform: OURS,
    native_id: AGENTS,
    status: OURS,
  },
  pair_sessions: { pair_id: OURS, native_id: AGENTS, why: "text" },
  answers: { message_id: "hash", pair_id: OURS, native_id: AGENTS, text: "text" },
  permissions: {
    ...{ id: OURS, home: MACHINE, asker: "text", team: SETTING, session_id: OURS, tool: "text", title: "text" },
    ...{ input: "json", suggestions: "json", state: OURS, reason: "text", answered_by: "text", waiter: OURS },
    ...{ questions: "json", answers: "json" },
  },
  audit: { who: "text", what: OURS, data: "json" },
  topics: {
    ...{ id: OURS, channel: OURS, home: MACHINE, chat_id: MESSENGERS, session_id: OURS, name: "text", state: OURS },
    ...{ verbosity: OURS, trail: "json" },
  },
  topic_messages: { channel: OURS, chat_id: MESSENGERS, topic_id: OURS },
  chat_moves: { channel: OURS, from_chat_id: MESSENGERS, to_chat_id: MESSENGERS },
  bots: { id: MESSENGERS, state: OURS, why: "text" },
  people: { channel: OURS, user_id: MESSENGERS, name: "text", chat_id: MESSENGERS },
  team_people: { channel: OURS, user_id: MESSENGERS, team: SETTING, name: "text" },
  budgets: { key: OURS, sent_at_ms: OURS },
  wait_notices: { id: OURS, channel: OURS, session_id: OURS, topic_id: OURS, words: "text" },
  cards: { permission_id: OURS, channel: OURS, chat_id: MESSENGERS },
  holds: { key: OURS, kind: OURS, why: "text" },
  roles: { name: OURS, owner: MACHINE },
}
