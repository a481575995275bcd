import { readdir, readFile } from "node:fs/promises"
import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture, SessionCapture } from "../../domain/capture.ts"
import type { DatabaseReader, Machine, Place, Platform, WholeReader } from "../../domain/platform.ts"
import { type FoundSession, type Message, SessionReading } from "./parts/opencode-session.ts"
import { type ForeignDb, withForeignDb } from "./shared/foreign-sqlite.ts"
import { asNumber, asObject, asString, type Json } from "./shared/jsonl.ts"
import { titleOf } from "./shared/text.ts"

export const opencode: Platform = opencodeLike({
  id: "opencode",
  label: "opencode",
  command: "opencode",
  databaseVariable: "OPENCODE_DB",
  databases: /^opencode[^/]*\.db$/,
})

/** opencode and the programs made of it: they differ in names only. */
export function opencodeLike(program: {
  id: string
  label: string
  /** Also the name of its folder. */
  command: string
  databaseVariable: string
  databases: RegExp
}): Platform {
  return {
    id: program.id,
    label: program.label,
    can: { hooks: false, resume: true, times: true },
    places(machine) {
      const { join } = machine.os === "win32" ? win32 : posix
      const dir = join(machine.env.XDG_DATA_HOME || join(machine.homeDir, ".local", "share"), program.command)
      return [
        { dir, depth: 0 },
        ...namedPlace(machine, dir, machine.env[program.databaseVariable]),
        { dir: join(dir, "storage", "session"), depth: 1 },
      ]
    },
    claim({ path, relative, place }) {
      const named = "database" in place ? place.database === relative : program.databases.test(relative)
      if (named) return { key: path, reader: database }
      const sessionId = /^[^/]+\/(ses_[^/]+)\.json$/.exec(relative)?.[1]
      if (!sessionId) return undefined
      return { key: path, files: [path, join(storageOf(path), "message", sessionId)], reader: legacyTree }
    },
    resume: ({ nativeId, projectPath }) => ({ argv: [program.command, "-s", nativeId], cwd: projectPath }),
  }
}

function namedPlace(machine: Machine, dataDir: string, named: string | undefined): Place[] {
  if (!named || named === ":memory:") return []
  const { isAbsolute, join, dirname, basename } = machine.os === "win32" ? win32 : posix
  const path = isAbsolute(named) ? named : join(dataDir, named)
  return [{ dir: dirname(path), depth: 0, database: basename(path) } as Place]
}

interface Cursor {
  /** The latest change that was seen. */
  at: number
  /** From which message on a session is taken back; that can be taken back too. */
  reverted: Record<string, string>
}

/** A change gets its time before it is committed, so that one can come to light behind the cursor. */
const OVERLAP_MS = 5_000
/** A prompt touches its session's row, and what follows need not. No index leads to changed parts but through sessions. */
const LONGEST_RUN_MS = 24 * 60 * 60 * 1000
const MESSAGES_AT_ONCE = 50

const database: DatabaseReader = {
  mode: "database",
  watch: (path) => [`${path}-wal`],
  async read(path, cursor) {
    const before = (cursor ?? undefined) as Cursor | undefined
    const { at, sessions } = withForeignDb(path, (db) => changedSessions(db, before))
    const reverted = { ...before?.reverted }
    for (const { capture, revert } of sessions) {
      if (revert) reverted[capture.sessionId] = revert.messageId
      else delete reverted[capture.sessionId]
    }
    const next: Cursor = { at, reverted }
    return { captures: sessionsFrom(path, sessions, before), cursor: next }
  },
  only(path, sessionId) {
    const sessions = withForeignDb(path, (db) => (isWhole(db) ? sessionsWhere(db, "id = ?", sessionId) : []))
    return sessionsFrom(path, sessions, undefined)
  },
}

function isWhole(db: ForeignDb): boolean {
  const tables = db.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('session','message','part')")
  return tables.length === 3
}

function sessionsWhere(db: ForeignDb, condition: string, value: string | number): FoundSession[] {
  return db
    .all(
      `SELECT id, parent_id, directory, title, version, revert, time_created, time_updated FROM session
       WHERE ${condition} ORDER BY time_updated DESC, id`,
      value,
    )
    .map((row) => ({
      capture: described(String(row.id), {
        parent: row.parent_id,
        directory: row.directory,
        title: row.title,
        version: row.version,
        created: row.time_created,
      }),
      revert: revertOf(parsed(row.revert)),
      updatedAt: asNumber(row.time_updated) ?? 0,
    }))
}

function changedSessions(db: ForeignDb, before: Cursor | undefined): { at: number; sessions: FoundSession[] } {
  if (!isWhole(db)) return { at: before?.at ?? 0, sessions: [] }
  const since = before ? before.at - OVERLAP_MS - LONGEST_RUN_MS : 0
  const sessions = sessionsWhere(db, "time_updated >= ?", since)
  // At first the sessions' own times must do: to look at every part takes long, and some read twice do no harm.
  // CROSS keeps the order: sessions are few, and nothing else leads to the rows that belong to them.
  const latest = ["message", "part"].map((table) =>
    before
      ? db.all(
          `SELECT max(t.time_updated) AS at FROM session s CROSS JOIN ${table} t ON t.session_id = s.id WHERE s.time_updated >= ?`,
          since,
        )[0]?.at
      : 0,
  )
  const at = Math.max(before?.at ?? 0, sessions[0]?.updatedAt ?? 0, ...latest.map((time) => asNumber(time) ?? 0))
  // A clock that was wrong once must not make everything later look old.
  return { at: Math.min(at, Date.now()), sessions }
}

/** The database is opened for a few messages at a time: the whole may not fit, and a long reading holds up its owner. */
function* sessionsFrom(path: string, sessions: FoundSession[], before: Cursor | undefined): Generator<Capture> {
  const since = before ? before.at - OVERLAP_MS : 0
  for (const session of sessions) {
    const { sessionId } = session.capture
    const marks = [before?.reverted[sessionId], session.revert?.messageId]
    // Undone, done again, or undone further: everything from the earlier mark on comes again.
    const moved = before && marks[0] !== marks[1] ? marks.filter((mark) => mark !== undefined).toSorted()[0] : undefined
    const ids = withForeignDb(path, (db) =>
      db.all(
        `SELECT m.id FROM message m WHERE m.session_id = ?1 AND (m.time_updated >= ?2 OR m.id >= ?3 OR EXISTS (
           SELECT 1 FROM part p WHERE p.message_id = m.id AND p.time_updated >= ?2)) ORDER BY m.time_created, m.id`,
        sessionId,
        since,
        moved ?? "~",
      ),
    ).map(({ id }) => String(id))
    if (ids.length === 0 && session.updatedAt < since) continue
    yield session.capture
    const reading = new SessionReading(session, before?.at ?? 0)
    for (let from = 0; from < ids.length; from += MESSAGES_AT_ONCE) {
      const some = JSON.stringify(ids.slice(from, from + MESSAGES_AT_ONCE))
      for (const message of withForeignDb(path, (db) => messagesOf(db, some))) yield* reading.captures(message)
    }
    yield* reading.end()
  }
}

function messagesOf(db: ForeignDb, ids: string): Message[] {
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
    data: parsed(row.data) ?? {},
    createdAt: asNumber(row.time_created),
  })
  return rows.map((row) => ({ ...withData(row), parts: (parts.get(row.id) ?? []).map(withData) }))
}

/** Before February 2026 each row was a file. The ids are the same, so that a tree which was taken over adds nothing. */
const legacyTree: WholeReader = {
  mode: "whole",
  async read(path) {
    const info = await jsonFile(path)
    const id = asString(info.id) ?? basename(path, ".json")
    const project = asString(info.directory) ? {} : await jsonFile(projectFileOf(path)).catch((): Json => ({}))
    const capture = described(id, {
      parent: info.parentID,
      directory: info.directory ?? project.worktree,
      title: info.title,
      version: info.version,
      created: asObject(info.time)?.created,
    })
    const reading = new SessionReading({ capture, revert: revertOf(asObject(info.revert)), updatedAt: 0 }, 0)
    const captures: Capture[] = [capture]
    for (const data of await jsonFiles(join(storageOf(path), "message", id))) {
      const messageId = asString(data.id) ?? ""
      const parts = await jsonFiles(join(storageOf(path), "part", messageId))
      captures.push(
        ...reading.captures({
          id: messageId,
          data,
          createdAt: asNumber(asObject(data.time)?.created),
          parts: parts.map((part) => ({ id: asString(part.id) ?? "", data: part, createdAt: undefined })),
        }),
      )
    }
    return [...captures, ...reading.end()]
  },
}

function described(
  sessionId: string,
  info: Record<"parent" | "directory" | "title" | "version" | "created", unknown>,
): SessionCapture {
  const [parent, directory, version] = [info.parent, info.directory, info.version].map(asString)
  const named = asString(info.title) ?? ""
  // Until a title is thought of, the time stands for it.
  const title = /^(New|Child) session - \d{4}-/.test(named) ? undefined : titleOf(named)
  const startedAtMs = asNumber(info.created)
  return {
    type: "session",
    sessionId,
    ...(directory && { projectPath: directory }),
    ...(title !== undefined && { title: { text: title, from: "generated" } }),
    ...(version && { agentVersion: version }),
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(parent && { parent: { sessionId: parent, kind: "subagent" } }),
  }
}

function revertOf(revert: Json | undefined): FoundSession["revert"] {
  const messageId = asString(revert?.messageID)
  return messageId === undefined ? undefined : { messageId, partId: asString(revert?.partID) }
}

function parsed(value: unknown): Json | undefined {
  try {
    return asObject(JSON.parse(String(value)))
  } catch {
    return undefined
  }
}

const storageOf = (sessionFile: string) => dirname(dirname(dirname(sessionFile)))
const projectFileOf = (sessionFile: string) =>
  join(storageOf(sessionFile), "project", `${basename(dirname(sessionFile))}.json`)

async function jsonFile(path: string): Promise<Json> {
  const value = asObject(JSON.parse(await readFile(path, "utf8")))
  if (!value) throw new TypeError(`${path} holds no object`)
  return value
}

/** In the order of their names, which are ids that rise with time. */
async function jsonFiles(dir: string): Promise<Json[]> {
  const names = await readdir(dir).catch((): string[] => [])
  return Promise.all(
    names
      .filter((name) => name.endsWith(".json"))
      .sort()
      .map((name) => jsonFile(join(dir, name))),
  )
}
