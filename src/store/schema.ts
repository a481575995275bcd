import type { Generated, GeneratedAlways } from "kysely"
import type { ApprovalRequest, Bot, Budget, Hold, Person, TeamPerson } from "../domain/channel-store.ts"
import type { Delivery } from "../domain/delivery.ts"
import type { Route } from "../domain/live.ts"
import type { Answer, Pair, PairSession } from "../domain/pair.ts"
import type { AuditEntry, Permission } from "../domain/permission.ts"
import type { Presence } from "../domain/presence.ts"
import type { Project } from "../domain/project.ts"
import type { Run } from "../domain/run.ts"
import type { SessionEdge } from "../domain/session.ts"
import type { Source } from "../domain/source.ts"
import type { TaskState } from "../domain/task-state.ts"
import type { Topic } from "../domain/topic.ts"
import type { Update } from "../domain/update.ts"
import type { WaitNotice } from "../domain/wait-notice.ts"
import type { ColumnsOf } from "./rows.ts"

type Numbered<T> = ColumnsOf<Omit<T, "seq">> & { seq: GeneratedAlways<number> }

/** The shape of the rows, the same on both databases: times are milliseconds, flags are 0 or 1, JSON is text. */
export interface Tables {
  projects: ColumnsOf<Project>
  project_roots: { seen_uri: string; project_id: string }
  sessions: {
    id: string
    platform: string
    native_id: string
    project_id: string | null
    title: string
    tags: string
    domain: string | null
    key: string | null
    pinned_at_ms: number | null
    archived_at_ms: number | null
    created_at_ms: number
    updated_at_ms: number
    /** Kept with each thought, so that reading a session does not count them. */
    thought_count: Generated<number>
    branch_count: Generated<number>
    turn_count: Generated<number>
    prompt_count: Generated<number>
    model: string | null
    git_branch: string | null
    agent_version: string | null
    /** The folder as the agent named it: resuming needs it, also where the project's root is another. */
    project_path: string | null
    title_rank: Generated<number>
    is_subagent: Generated<number>
    origin: Generated<string>
    logged_by: string | null
  }
  session_projects: { session_id: string; project_id: string }
  thoughts: {
    seq: GeneratedAlways<number>
    session_id: string
    /** Empty on the main line: a null would escape the unique index. */
    branch_id: string
    number: number
    text: string
    total_thoughts: number
    next_needed: number
    is_revision: number
    revises_thought: number | null
    branch_from: number | null
    renumbered_from: number | null
    key: string | null
    created_at_ms: number
  }
  sources: ColumnsOf<Omit<Source, "id" | "offset" | "origin">> & {
    id: GeneratedAlways<number>
    offset_bytes: number
    /** Null where it was read before origins were kept. */
    origin: string | null
  }
  trusted_paths: { path: string; at_ms: number }
  followed_folders: { host: string; path: string; seen_at_ms: number }
  turns: {
    seq: GeneratedAlways<number>
    session_id: string
    native_id: string
    kind: string
    text: string
    at_ms: number
    model: string | null
    tool_name: string | null
    tool_call_id: string | null
    is_error: number
    is_fallback: number
    usage: string | null
    metadata: string | null
    source_id: number | null
    superseded_at_ms: number | null
  }
  forgotten: { session_hash: string; turn_hash: string; at_ms: number }
  session_edges: ColumnsOf<SessionEdge> & { session_id: string }
  runs: ColumnsOf<Omit<Run, "platform" | "nativeId" | "projectId" | "end">> & { end_reason: string | null }
  bindings: {
    caller_key: string
    root_uri: string | null
    session_id: string | null
    updated_at_ms: number
    is_own: Generated<number>
  }
  journal: {
    seq: GeneratedAlways<number>
    kind: string
    session_id: string | null
    project_id: string | null
    at_ms: number
    data: string
    key: string | null
  }
  followers: { name: string; position: number }
  deliveries: Numbered<Omit<Delivery, "route" | "attempts">> & { attempts: Generated<number>; rung: string | null }
  routes: ColumnsOf<Omit<Route, "platform" | "nativeId">>
  posts: ColumnsOf<Omit<Presence, "isSupervised">> & { is_kept: number }
  updates: Numbered<Update>
  task_states: ColumnsOf<Omit<TaskState, "lastCompletedStep">> & {
    last_completed_step: string | null
    is_step_number: Generated<number>
  }
  pairs: ColumnsOf<Omit<Pair, "fromTeam">> & { from_team: string }
  pair_sessions: ColumnsOf<PairSession>
  answers: ColumnsOf<Answer>
  permissions: ColumnsOf<Omit<Permission, "via">> & { waiter: string }
  audit: Numbered<AuditEntry>
  topics: ColumnsOf<Omit<Topic, "unconfirmed" | "progressMessage">> & { doubts: number; trail: string | null }
  topic_messages: { channel: string; chat_id: string; message_id: number; topic_id: string; at_ms: number }
  chat_moves: { channel: string; from_chat_id: string; to_chat_id: string }
  bots: ColumnsOf<Bot>
  people: ColumnsOf<Person>
  team_people: ColumnsOf<TeamPerson>
  budgets: ColumnsOf<Budget> & { key: string }
  wait_notices: ColumnsOf<WaitNotice>
  cards: ColumnsOf<ApprovalRequest>
  holds: ColumnsOf<Hold>
  roles: { name: string; owner: string; until_ms: number }
}
