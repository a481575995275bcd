import type { Capture } from "../../../domain/capture.ts"
import type { DatabaseReader } from "../../../domain/platform.ts"
import { OVER_LIMIT } from "../../../domain/source.ts"
import { DAY_MS } from "../../../lib/time.ts"
import { type ForeignDb, withForeignDb } from "../records/foreign-sqlite.ts"
import { asNumber, jsonIn } from "../records/jsonl.ts"
import { type Described, described, type FoundSession, type Message, revertOf, SessionReading } from "./session.ts"
import { messageOfVersion2 } from "./version2.ts"

interface Cursor {
  /** The latest change seen. */
  at: number
  /** The message from which a session is reverted; a revert can be undone. */
  reverted: Record<string, string>
  /** The latest change seen in version 1's tables, which may be dropped later; version 2 has copies under other ids. */
  oldAt?: number
}

interface Found extends FoundSession {
  updatedAt: number
}

/** A change gets its time before it is committed, so it can appear behind the cursor. */
const OVERLAP_MS = 5_000
/** A prompt updates its session's row, later parts need not; changed parts are only indexed through sessions. */
const LONGEST_RUN_MS = DAY_MS
const MESSAGES_AT_ONCE = 50

/**
 * Version 2 has its own tables beside version 1's, which it copies once; version 1 keeps writing its own. Copied messages keep
 * their ids, so each is read from one place.
 */
export const opencodeDatabase: DatabaseReader = {
  mode: "database",
  watch: (path) => [`${path}-wal`],
  async read(path, cursor) {
    const before = (cursor ?? undefined) as Cursor | undefined
    const { at, sessions, hasOld } = withForeignDb(path, (db) => changedSessions(db, before))
    const reverted = { ...before?.reverted }
    for (const { capture, revert } of sessions) {
      if (revert) reverted[capture.sessionId] = revert.messageId
      else delete reverted[capture.sessionId]
    }
    const oldAt = hasOld ? at : before?.oldAt
    const next: Cursor = { at, reverted, ...(oldAt !== undefined && { oldAt }) }
    return { captures: sessionsFrom(path, sessions, before), cursor: next }
  },
  only(path, sessionId) {
    const sessions = withForeignDb(path, (db) => sessionsWhere(db, tablesIn(db), "id = ?", sessionId))
    return sessionsFrom(path, sessions, undefined)
  },
}

interface Tables {
  old: boolean
  new: boolean
  /** Whether version 2 records forks; its first releases do not. */
  forks: boolean
}

const KNOWN = ["session", "message", "part", "session_v2", "session_message"]
/** The tables of the migrations. */
const MADE_FIRST = 2

function tablesIn(db: ForeignDb): Tables {
  const names = new Set(db.all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => String(name)))
  const has = (...all: string[]) => all.every((name) => names.has(name))
  // A new database has only some of the tables for a moment.
  const isForeign = names.size > MADE_FIRST && !KNOWN.some((name) => names.has(name))
  if (isForeign) throw new TypeError(`no table in it is known: it has ${[...names].sort().join(", ").slice(0, 200)}`)
  const columns = db.all("SELECT name FROM pragma_table_info('session_v2')").map(({ name }) => name)
  return {
    old: has("session", "message", "part"),
    new: has("session_v2", "session_message"),
    forks: columns.includes("fork_session_id"),
  }
}

/** Newest first. A session in both generations is one; version 2's row is newer. */
function sessionsWhere(db: ForeignDb, tables: Tables, condition: string, value: string | number): Found[] {
  const found = new Map<string, Found>()
  for (const table of [...(tables.old ? ["session"] : []), ...(tables.new ? ["session_v2"] : [])]) {
    const fork = table === "session_v2" && tables.forks ? "fork_session_id" : "NULL"
    const rows = db.all(
      `SELECT id, parent_id, ${fork} AS fork, directory, title, version, revert, time_created, time_updated
       FROM ${table} WHERE ${condition}`,
      value,
    )
    for (const row of rows) {
      const id = String(row.id)
      const updatedAt = Math.max(asNumber(row.time_updated) ?? 0, found.get(id)?.updatedAt ?? 0)
      const capture = described(id, { ...row, parent: row.parent_id, created: row.time_created } as Described)
      found.set(id, { capture, revert: revertOf(jsonIn(row.revert)), updatedAt })
    }
  }
  const order = (a: Found, b: Found) =>
    b.updatedAt - a.updatedAt || (a.capture.sessionId < b.capture.sessionId ? -1 : 1)
  return [...found.values()].sort(order)
}

function changedSessions(
  db: ForeignDb,
  before: Cursor | undefined,
): { at: number; sessions: Found[]; hasOld: boolean } {
  const tables = tablesIn(db)
  const since = before ? before.at - OVERLAP_MS - LONGEST_RUN_MS : 0
  const sessions = sessionsWhere(db, tables, "time_updated >= ?", since)
  const rows = [
    ...(tables.old ? [["session", "message"] as const, ["session", "part"] as const] : []),
    ...(tables.new ? [["session_v2", "session_message"] as const] : []),
  ]
  // The first read uses the sessions' own times: scanning every part is slow, and reading some twice is harmless.
  // CROSS JOIN fixes the order: sessions are few, and only they lead to the rows by an index.
  const latest = rows.map(([parent, child]) =>
    before
      ? db.all(
          `SELECT max(t.time_updated) AS at FROM ${parent} s CROSS JOIN ${child} t ON t.session_id = s.id WHERE s.time_updated >= ?`,
          since,
        )[0]?.at
      : 0,
  )
  const at = Math.max(before?.at ?? 0, sessions[0]?.updatedAt ?? 0, ...latest.map((time) => asNumber(time) ?? 0))
  // A clock that was ahead once must not hide later changes.
  return { at: Math.min(at, Date.now()), sessions, hasOld: tables.old }
}

/** Reads a few messages at a time: all may not fit into memory, and a long transaction blocks opencode. */
function* sessionsFrom(path: string, sessions: Found[], before: Cursor | undefined): Generator<Capture> {
  const since = before ? before.at - OVERLAP_MS : 0
  for (const session of sessions) {
    const { sessionId } = session.capture
    const marks = [before?.reverted[sessionId], session.revert?.messageId]
    // The revert changed: read again from the earlier mark on.
    const moved = before && marks[0] !== marks[1] ? marks.filter((mark) => mark !== undefined).toSorted()[0] : undefined
    const query = { sessionId, since, from: moved ?? "~", oldAt: before?.oldAt ?? 0 }
    const [old, fresh] = withForeignDb(path, (db) => {
      const tables = tablesIn(db)
      return [tables.old ? oldIds(db, query) : [], tables.new ? newIds(db, tables, query) : []] as const
    })
    if (old.length + fresh.length === 0 && session.updatedAt < since) continue
    yield session.capture
    const reading = new SessionReading(session, before?.at ?? 0)
    for (const some of portions(old))
      for (const message of withForeignDb(path, (db) => oldMessages(db, some))) yield* reading.captures(message)
    for (const some of portions(fresh))
      for (const message of withForeignDb(path, (db) => newMessages(db, some)))
        yield* reading.captures(isCopy(message, session) ? withoutUsage(message) : message)
    yield* reading.end()
  }
}

interface IdQuery {
  sessionId: string
  since: number
  /** Everything from this message on, changed or not. */
  from: string
  oldAt: number
}

function oldIds(db: ForeignDb, { sessionId, since, from }: IdQuery): string[] {
  const rows = db.all(
    `SELECT m.id FROM message m WHERE m.session_id = ?1 AND (m.time_updated >= ?2 OR m.id >= ?3 OR EXISTS (
       SELECT 1 FROM part p WHERE p.message_id = m.id AND p.time_updated >= ?2)) ORDER BY m.time_created, m.id`,
    sessionId,
    since,
    from,
  )
  return rows.map(({ id }) => String(id))
}

/** Without copies of messages that are, or were, in version 1's tables. */
function newIds(db: ForeignDb, tables: Tables, { sessionId, since, from, oldAt }: IdQuery): string[] {
  const isCopy = tables.old ? "EXISTS (SELECT 1 FROM message o WHERE o.id = m.id)" : "(m.time_created <= ?4)"
  const more = tables.old ? [] : [oldAt]
  const rows = db.all(
    `SELECT m.id FROM session_message m WHERE m.session_id = ?1 AND (m.time_updated >= ?2 OR m.id >= ?3)
       AND NOT ${isCopy} ORDER BY m.seq`,
    sessionId,
    since,
    from,
    ...more,
  )
  return rows.map(({ id }) => String(id))
}

/** A fork starts with copies of the original's messages, with their times and new ids. */
function isCopy({ createdAt = 0 }: Message, { capture }: FoundSession): boolean {
  return capture.parent?.kind === "fork" && createdAt < (capture.startedAtMs ?? 0)
}

/** Copied tokens were counted in the original. */
function withoutUsage({ data: { tokens, cost, ...data }, ...message }: Message): Message {
  return { ...message, data }
}

function* portions(ids: readonly string[]): Generator<string> {
  for (let from = 0; from < ids.length; from += MESSAGES_AT_ONCE)
    yield JSON.stringify(ids.slice(from, from + MESSAGES_AT_ONCE))
}

function oldMessages(db: ForeignDb, ids: string): Message[] {
  const parts = Map.groupBy(
    db.all(
      `SELECT id, message_id, data, time_created FROM part
       WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY message_id, id`,
      ids,
    ),
    (row) => row.message_id,
  )
  const rows = db.all(
    `SELECT id, data, time_created FROM message
     WHERE id IN (SELECT value FROM json_each(?)) ORDER BY time_created, id`,
    ids,
  )
  const withData = (row: (typeof rows)[number]) => ({
    id: String(row.id),
    data: jsonIn(row.data) ?? {},
    createdAt: asNumber(row.time_created),
  })
  return rows.map((row) => {
    const message = withData(row)
    const own = (parts.get(row.id) ?? []).map(withData)
    // A part, because only parts are counted as skipped.
    return { ...message, parts: message.data.type === OVER_LIMIT.cell ? [message, ...own] : own }
  })
}

function newMessages(db: ForeignDb, ids: string): Message[] {
  const rows = db.all(
    `SELECT id, type, data, time_created FROM session_message
     WHERE id IN (SELECT value FROM json_each(?)) ORDER BY seq`,
    ids,
  )
  return rows.map((row) =>
    messageOfVersion2(String(row.id), String(row.type), jsonIn(row.data) ?? {}, asNumber(row.time_created)),
  )
}
