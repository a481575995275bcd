import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { type SessionId, withoutScope } from "../../domain/ids.ts"
import { isUntrusted } from "../../domain/origin.ts"
import type { Store } from "../../domain/store.ts"
import type { TaskFile } from "../../domain/task-file.ts"
import type { TaskStep } from "../../domain/task-state.ts"
import { type Roster, type Team, teamsOf } from "../../domain/team.ts"
import type { Turn } from "../../domain/turn.ts"
import type { Update } from "../../domain/update.ts"

export interface PulledUpdate {
  message_id: string | null
  type: string
  content: string
  created_at: string
  session_id?: string
  state?: string
  rung?: string
  reason?: string
  /** From a file in a repository. */
  untrusted?: true
}

/** The work of a session that has ended. */
export interface RestartUpdate {
  old_session_id: string | null
  new_session_id: string | null
  cause: string
  working_on: string | null
  last_completed_step: TaskStep | null
  pending_messages: string[]
  /** From the file in the project, if the agent reported no task by our tool. */
  task_file?: Omit<TaskFile, "session_id"> & { untrusted: true }
  at: string
}

export interface TeamRestart extends RestartUpdate {
  team: string
  /** The new session, or the old one while the new one is not captured. */
  sessionId: SessionId | null
}

export interface UpdatePage {
  updates: PulledUpdate[]
  /** The newest one of this page. */
  session_restart: RestartUpdate | null
  next_since: string
  has_more: boolean
}

/** A message fetched by the team's own agent, framed as mail. */
export interface Mail {
  id: string
  text: string
  atMs: number
}

export interface UpdatesModule {
  pull(
    query: { target: string; since?: string | number | undefined; limit: number },
    caller: Caller,
  ): Promise<UpdatePage>
  /** Of all teams, newest first. */
  restarts(query: { sinceMs: number; limit: number }): Promise<TeamRestart[]>
}

interface Deps {
  store: Store
  roster: Roster
  /** Reports a restart that this call reveals, so that the agent reads about it before its mail. */
  beforeMail(team: Team, caller: Caller): Promise<void>
  /** Delivers the team's pending messages to its calling agent. */
  takeMail(team: Team, caller: Caller): Promise<{ mail: Mail[]; hasMore: boolean }>
}

/** Limits the text of one page. */
const PAGE_CHARS = 60_000
const TITLE_CHARS = 200

export function makeUpdates({ store, roster, beforeMail, takeMail }: Deps): UpdatesModule {
  /** A known session determines its team; otherwise the folder in which the agent runs our server does. */
  const isOwnAgent = async (team: Team, caller: Caller): Promise<boolean> => {
    const { surface, nativeSession, projectDir, cwd, isRemote } = caller
    if (surface !== "mcp" || isRemote) return false
    const session = nativeSession && (await store.sessions.byNative(nativeSession.platform, nativeSession.id))
    const dir = projectDir ?? cwd
    const own = session
      ? teamsOf(roster, session, projectDir)
      : dir === undefined
        ? []
        : nativeSession
          ? teamsOf(roster, { platform: nativeSession.platform, projectPath: dir, rootUri: null })
          : nearestAt(dir)
    return own.some(({ name }) => name === team.name)
  }

  /** Only the innermost teams: one in a folder above is another agent's. */
  const nearestAt = (dir: string): Team[] => {
    const above = roster.at(dir)
    return above.filter((team) => team.projectDir === above[0]?.projectDir)
  }

  return {
    async pull({ target, since, limit }, caller) {
      const team = roster.byName(target)
      if (!team) throw new Failure("bad_input", `unknown target: ${target}`, { parameter: "target" })
      const from = since === undefined ? { newest: true } : parseSince(since)
      const isOwn = await isOwnAgent(team, caller)
      if (isOwn) await beforeMail(team, caller)
      // Read first: an update that arrives in between is then in both pages, and not in neither.
      const last = await store.updates.last(team.name)
      const rows = await store.updates.after(team.name, { ...from, limit: limit + (since === undefined ? 0 : 1) })
      const page = rows.slice(0, limit)
      const turns = await turnsOf(store, page)
      const updates: PulledUpdate[] = []
      let restart: RestartUpdate | null = null
      let chars = 0
      let read = 0
      for (const row of page) {
        const shown = await show(store, row, turns)
        if (shown && updates.length > 0 && chars + shown.content.length > PAGE_CHARS) break
        read++
        // Forgotten since.
        if (!shown) continue
        chars += shown.content.length
        updates.push(shown)
        if (row.type === "session_restart") restart = restartOf(row, turns)
      }
      const { mail, hasMore } = isOwn ? await takeMail(team, caller) : { mail: [], hasMore: false }
      const lastRead = page[read - 1]?.seq ?? ("afterSeq" in from ? from.afterSeq : last)
      return {
        updates: [...updates, ...mail.map(shownMail)],
        session_restart: restart,
        next_since: cursorOf(lastRead),
        has_more: read < rows.length || hasMore,
      }
    },
    async restarts({ sinceMs, limit }) {
      const only = { types: ["session_restart"] as const, newest: true, sinceMs, limit }
      const found = await Promise.all(roster.list().map(({ name }) => store.updates.after(name, only)))
      const rows = found
        .flat()
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, limit)
      const turns = await turnsOf(store, rows)
      return Promise.all(
        rows.map(async (row) => {
          const restart = restartOf(row, turns)
          const old = row.sessionId === null ? undefined : await store.sessions.byId(row.sessionId)
          const next = restart.new_session_id
          const now = old && next !== null ? await store.sessions.byNative(old.platform, next) : undefined
          return { ...restart, team: row.team, sessionId: (now ?? old)?.id ?? null }
        }),
      )
    },
  }
}

/** Texts are not stored with updates: forgetting a turn removes it here too. */
async function turnsOf(store: Store, rows: Update[]): Promise<Map<number, Turn>> {
  const turns = await store.turns.bySeqs(rows.flatMap(({ turnSeq }) => turnSeq ?? []))
  return new Map(turns.map((turn) => [turn.seq, turn]))
}

async function show(store: Store, row: Update, turns: Map<number, Turn>): Promise<PulledUpdate | undefined> {
  const { type, messageId, data, atMs } = row
  const content = contentOf(row, turns)
  if (content === undefined) return undefined
  const session = row.sessionId === null ? undefined : await store.sessions.byId(row.sessionId)
  const word = (key: "state" | "rung" | "reason") => (typeof data[key] === "string" ? { [key]: data[key] } : {})
  return {
    message_id: messageId,
    type,
    content,
    created_at: new Date(atMs).toISOString(),
    ...(session ? { session_id: withoutScope(session.nativeId) } : {}),
    ...(session && isUntrusted(session) ? { untrusted: true as const } : {}),
    ...word("state"),
    ...word("rung"),
    ...word("reason"),
  }
}

function contentOf({ type, turnSeq, messageId, data }: Update, turns: Map<number, Turn>): string | undefined {
  const { old, new: next, cause, state, reason } = data
  switch (type) {
    case "reply":
    case "announcement":
      return turns.get(turnSeq ?? -1)?.text
    case "message_state":
      return `${messageId} is ${state}${reason === undefined ? "" : `: ${reason}`}`
    case "session_restart":
      return `⚠️ Agent session restarted (${cause}). Previous context lost. Session: ${old} → ${next ?? "none yet"}`
    case "session_started":
      return `Session ${next} started (${cause}).`
    case "session_ended":
      return `Session ${old} has ended (${cause}).`
  }
}

function restartOf({ data, turnSeq, atMs }: Update, turns: Map<number, Turn>): RestartUpdate {
  const {
    old,
    new: next,
    cause,
    task,
    pending,
    task_file: file,
  } = data as {
    old: string | null
    new: string | null
    cause: string
    task: { current_task: string | null; last_completed_step: TaskStep | null } | null
    pending: string[]
    task_file?: TaskFile
  }
  const prompt = turns
    .get(turnSeq ?? -1)
    ?.text.trim()
    .split("\n")[0]
    ?.slice(0, TITLE_CHARS)
  return {
    old_session_id: old,
    new_session_id: next,
    cause,
    working_on: task?.current_task ?? prompt ?? null,
    last_completed_step: task?.last_completed_step ?? null,
    pending_messages: pending,
    ...(file === undefined ? {} : { task_file: marked(file) }),
    at: new Date(atMs).toISOString(),
  }
}

const shownMail = ({ id, text, atMs }: Mail): PulledUpdate => ({
  message_id: id,
  type: "message",
  content: text,
  created_at: new Date(atMs).toISOString(),
})

const marked = ({ session_id: _, ...file }: TaskFile) => ({ ...file, untrusted: true as const })

/** Where a page of updates starts. */
type Since = { afterSeq: number } | { sinceMs: number }

const cursorOf = (seq: number) => `u${seq.toString(36)}`

/** A cursor of an earlier page, an ISO 8601 time, or seconds or milliseconds since 1970. */
function parseSince(given: string | number): Since {
  const text = String(given).trim()
  if (/^u[0-9a-z]{1,10}$/.test(text)) return { afterSeq: Number.parseInt(text.slice(1), 36) }
  if (/^\d{9,16}(\.\d+)?$/.test(text)) {
    const number = Number(text)
    return { sinceMs: Math.trunc(number < SECONDS_BELOW ? number * 1000 : number) }
  }
  const atMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(atMs))
    throw new Failure(
      "bad_input",
      `since must be a next_since from an earlier answer, a time such as 2026-03-30T08:15:00Z, or seconds since 1970, got ${JSON.stringify(given)}`,
      { parameter: "since" },
    )
  return { sinceMs: atMs }
}

/** In seconds the year 5138; in milliseconds 1973. */
const SECONDS_BELOW = 1e11
