import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { OVER_LIMIT } from "../../../domain/source.ts"
import { refused } from "../../../lib/path-rules.ts"
import { firstBytes, lookAt, readBytes } from "../../../lib/untrusted-file.ts"

export type ForeignRow = Record<string, null | number | string | Uint8Array>

export interface ForeignDb {
  all(sql: string, ...params: SQLInputValue[]): ForeignRow[]
  /** For results too big to hold; used up before the reading ends. */
  iterate(sql: string, ...params: SQLInputValue[]): Iterable<ForeignRow>
}

/** The database cannot be read now without touching it. It is tried again at its next change. */
export class ForeignDbBusy extends Error {}

/**
 * Reads another program's SQLite database so that not a byte in its folder changes, and closes it at once.
 * `read` must be short and without effects: it is called again when the file changed under it.
 */
export function withForeignDb<T>(path: string, read: (db: ForeignDb) => T): T {
  assertRegular(path)
  let last: unknown
  for (let attempt = 0; attempt < 3; attempt++) {
    const before = stampOf(path)
    try {
      const way = wayOf(path)
      if (way === "copy") return readCopy(path, before, read)
      const result = readAt(uri(path, way), read)
      // A live reading is a transaction; an immutable one takes no locks, so that it holds only if nothing moved.
      if (way === "live" || stampOf(path) === before) return result
      last = undefined
    } catch (error) {
      if (error instanceof ForeignDbBusy || (stampOf(path) === before && !isPassing(error))) throw error
      last = error
    }
  }
  try {
    return readCopy(path, stampOf(path), read)
  } catch (error) {
    throw new ForeignDbBusy(`${path} cannot be read now; it is tried again at its next change`, {
      cause: last ?? error,
    })
  }
}

/** SQLite opens by name and waits for a FIFO, so its files are looked at first; of links it would follow any. */
function assertRegular(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
    const found = lookAt(path + suffix)
    if (found && !found.isFile())
      throw refused(path + suffix, found.isSymbolicLink() ? "is a link" : "is not a regular file")
  }
}

/** Beyond this, copying would fill the disk of someone whose agent crashed. */
const COPY_LIMIT_BYTES = 64 * 1024 * 1024

/** Busy, locked, read-only, I/O, corrupt, cannot open, not a database: what a file in motion can look like. */
const PASSING_CODES = new Set([5, 6, 8, 10, 11, 14, 26])

function isPassing(error: unknown): boolean {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined
  return typeof code === "number" && PASSING_CODES.has(code & 0xff)
}

type Way = "live" | "immutable" | "copy"

function wayOf(path: string): Way {
  const wal = sizeOf(`${path}-wal`)
  // Opening read-only makes a missing -wal and -shm in the agent's folder; that both are there keeps it from doing so.
  if (wal !== undefined && sizeOf(`${path}-shm`)) return "live"
  return wal || isHot(`${path}-journal`) ? "copy" : "immutable"
}

/** A journal that was kept but is done with begins with zeros. */
function isHot(journal: string): boolean {
  return sizeOf(journal) ? headerOf(journal)[0] !== 0 : false
}

/** `readonly_shm` because even a read-only connection writes its marks into the shared memory otherwise. */
function uri(path: string, way: Exclude<Way, "copy">): string {
  const url = pathToFileURL(path)
  url.search = way === "live" ? "mode=ro&readonly_shm=1" : "mode=ro&immutable=1"
  return url.href
}

function readCopy<T>(path: string, before: string, read: (db: ForeignDb) => T): T {
  if (kept?.path !== path || kept.stamp !== before) {
    dropCopy()
    kept = { path, stamp: before, ...openCopy(path, before) }
  }
  clearTimeout(kept.end)
  kept.end = setTimeout(dropCopy, COPY_KEPT_MS).unref()
  return inTransaction(kept.db, read)
}

/** Kept for a moment: a database is read in many short readings. */
const COPY_KEPT_MS = 5_000
let kept: { path: string; stamp: string; db: DatabaseSync; folder: string; end?: NodeJS.Timeout } | undefined

function dropCopy(): void {
  if (!kept) return
  clearTimeout(kept.end)
  kept.db.close()
  rmSync(kept.folder, { recursive: true, force: true })
  kept = undefined
}

function openCopy(path: string, before: string): { db: DatabaseSync; folder: string } {
  const parts = ["", "-wal", "-journal"].filter((suffix) => sizeOf(path + suffix))
  const bytes = parts.reduce((sum, suffix) => sum + (sizeOf(path + suffix) ?? 0), 0)
  if (bytes > COPY_LIMIT_BYTES)
    throw new ForeignDbBusy(`${path} has unfinished changes and is too big to copy; it is read at its next change`)
  const folder = mkdtempSync(join(tmpdir(), "throughline-"))
  try {
    for (const suffix of parts)
      writeFileSync(join(folder, `copy.db${suffix}`), readBytes(path + suffix, { maxBytes: COPY_LIMIT_BYTES }))
    if (stampOf(path) !== before) throw new ForeignDbBusy(`${path} changed while it was copied`)
    const db = openAt(pathToFileURL(join(folder, "copy.db")).href, false)
    db.exec("PRAGMA journal_mode = DELETE")
    // Open, it can be read without its name, and nothing is left however this process ends; not so on Windows.
    if (process.platform !== "win32") rmSync(folder, { recursive: true, force: true })
    return { db, folder }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}

function readAt<T>(location: string, read: (db: ForeignDb) => T): T {
  const db = openAt(location, true)
  try {
    db.exec("PRAGMA busy_timeout = 2000")
    return inTransaction(db, read)
  } finally {
    db.close()
  }
}

function inTransaction<T>(db: DatabaseSync, read: (db: ForeignDb) => T): T {
  db.exec("PRAGMA query_only = ON; BEGIN")
  try {
    return read({
      all: (sql, ...params) => [...rowsOf(db, sql, params)],
      iterate: (sql, ...params) => rowsOf(db, sql, params),
    })
  } finally {
    try {
      db.exec("ROLLBACK")
    } catch {
      // Some errors have rolled it back already.
    }
  }
}

/** Longer than any cell of an agent that we have seen. */
export const MAX_CELL_BYTES = 32 * 1024 * 1024
/** One query's cells are held together; of what comes after this much, only short ones are. */
const MAX_RESULT_CHARS = 256 * 1024 * 1024
const SHORT_CHARS = 64 * 1024
/** Stands for a cell that was not read: JSON, as nearly all cells of agents are, of a kind that adapters count. */
export const CELL_LEFT_OUT = JSON.stringify({ type: OVER_LIMIT.cell })

function* rowsOf(db: DatabaseSync, sql: string, params: SQLInputValue[]): Generator<ForeignRow> {
  let chars = 0
  for (const row of db.prepare(capped(db, sql)).iterate(...params) as Iterable<ForeignRow>) {
    for (const [name, value] of Object.entries(row)) {
      if (value === null || typeof value === "number") continue
      chars += value.length
      if (chars > MAX_RESULT_CHARS && value.length > SHORT_CHARS) row[name] = CELL_LEFT_OUT
    }
    yield row
  }
}

/** SQLite looks up the length of a cell without reading it, so one that is too long never comes into memory. */
function capped(db: DatabaseSync, sql: string): string {
  // Node before 22.16 cannot name them.
  const columns = db.prepare(sql).columns?.() ?? []
  if (columns.length === 0) return sql
  const cells = columns.map(({ name }) => {
    const cell = `"${name.replaceAll('"', '""')}"`
    return `CASE WHEN octet_length(${cell}) > ${MAX_CELL_BYTES} THEN '${CELL_LEFT_OUT}' ELSE ${cell} END AS ${cell}`
  })
  return `SELECT ${cells.join(", ")} FROM (${sql})`
}

function openAt(location: string, readOnly: boolean): DatabaseSync {
  // Node's own SQLite, because better-sqlite3 is built without URI names; asked for late, because Node 22 warns of it.
  const sqlite = process.getBuiltinModule("node:sqlite")
  if (!sqlite) throw new Error("Reading another program's database needs Node 22.15 or newer")
  return new sqlite.DatabaseSync(location, { readOnly })
}

/** Changes whenever the database does: times alone are too coarse, so the header with its change counter is part of it. */
function stampOf(path: string): string {
  const sizes = ["", "-wal", "-journal"].map((suffix) => {
    const found = lookAt(path + suffix)
    return found ? `${found.ino}:${found.size}:${found.mtimeMs}` : "-"
  })
  return `${sizes.join(" ")} ${headerOf(path).toString("base64")}`
}

const headerOf = (path: string) => firstBytes(path, 100)
const sizeOf = (path: string) => lookAt(path)?.size
