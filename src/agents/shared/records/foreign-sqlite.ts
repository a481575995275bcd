import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import { pathToFileURL } from "node:url"
import { OVER_LIMIT } from "../../../domain/source.ts"
import { after } from "../../../lib/clock.ts"
import { refused } from "../../../lib/path-rules.ts"
import { firstBytes, lookAt, readBytes } from "../../../lib/untrusted-file.ts"

export type ForeignRow = Record<string, null | number | string | Uint8Array>

export interface ForeignDb {
  all(sql: string, ...params: SQLInputValue[]): ForeignRow[]
  /** For results too big for memory; consume it before the read ends. */
  iterate(sql: string, ...params: SQLInputValue[]): Iterable<ForeignRow>
}

/** The database cannot be read without touching it now. It is retried at its next change. */
export class ForeignDbBusy extends Error {}

/**
 * Reads another program's SQLite database without changing a byte in its folder, and closes it at once.
 * `read` must be short and free of side effects: it is repeated if the file changed meanwhile.
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
      // A live read is a transaction; an immutable one takes no locks and is only valid if nothing changed.
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
    throw new ForeignDbBusy(`${path} cannot be read now; it is retried at its next change`, {
      cause: last ?? error,
    })
  }
}

/** Checked first because SQLite would follow any link and block on a FIFO. */
function assertRegular(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
    const found = lookAt(path + suffix)
    if (found && !found.isFile())
      throw refused(path + suffix, found.isSymbolicLink() ? "is a link" : "is not a regular file")
  }
}

/** Larger copies could fill the disk after an agent's crash. */
const COPY_LIMIT_BYTES = 64 * 1024 * 1024

/** Busy, locked, read-only, I/O, corrupt, cannot open, not a database: possible while the file changes. */
const PASSING_CODES = new Set([5, 6, 8, 10, 11, 14, 26])

function isPassing(error: unknown): boolean {
  const code = error instanceof Error && "errcode" in error ? error.errcode : undefined
  return typeof code === "number" && PASSING_CODES.has(code & 0xff)
}

type Way = "live" | "immutable" | "copy"

function wayOf(path: string): Way {
  const wal = sizeOf(`${path}-wal`)
  // Opening read-only would create a missing -wal and -shm in the agent's folder; existing ones prevent that.
  if (wal !== undefined && sizeOf(`${path}-shm`)) return "live"
  return wal || isHot(`${path}-journal`) ? "copy" : "immutable"
}

/** A finished journal that is kept starts with zeros. */
function isHot(journal: string): boolean {
  return sizeOf(journal) ? headerOf(journal)[0] !== 0 : false
}

/** `readonly_shm` because even a read-only connection would write to the shared memory. */
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
  kept.keep?.()
  kept.keep = after(COPY_KEPT_MS, dropCopy, { ref: false })
  return inTransaction(kept.db, read)
}

/** Cached for a moment: a database is read in many short reads. */
const COPY_KEPT_MS = 5_000
let kept: { path: string; stamp: string; db: DatabaseSync; folder: string; keep?: () => void } | undefined

function dropCopy(): void {
  if (!kept) return
  kept.keep?.()
  kept.db.close()
  rmSync(kept.folder, { recursive: true, force: true })
  kept = undefined
}

function openCopy(path: string, before: string): { db: DatabaseSync; folder: string } {
  const parts = ["", "-wal", "-journal"].filter((suffix) => sizeOf(path + suffix))
  const bytes = parts.reduce((sum, suffix) => sum + (sizeOf(path + suffix) ?? 0), 0)
  if (bytes > COPY_LIMIT_BYTES)
    throw new ForeignDbBusy(`${path} has unfinished changes and is too big to copy; it is retried at its next change`)
  const folder = mkdtempSync(join(tmpdir(), "throughline-"))
  try {
    for (const suffix of parts)
      writeFileSync(join(folder, `copy.db${suffix}`), readBytes(path + suffix, { maxBytes: COPY_LIMIT_BYTES }))
    if (stampOf(path) !== before) throw new ForeignDbBusy(`${path} changed while it was copied`)
    const db = openAt(pathToFileURL(join(folder, "copy.db")).href, false)
    db.exec("PRAGMA journal_mode = DELETE")
    // An open file needs no name, so nothing is left behind if this process dies; not on Windows.
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
      // Some errors roll back on their own.
    }
  }
}

/** Longer than any cell seen of an agent. */
export const MAX_CELL_BYTES = 32 * 1024 * 1024
/** Limit for all cells of one query; beyond it only short cells are read. */
const MAX_RESULT_CHARS = 256 * 1024 * 1024
const SHORT_CHARS = 64 * 1024
/** Placeholder for a cell that was not read: JSON, like nearly all cells, of a kind that readers count as skipped. */
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

/** SQLite knows a cell's length without reading it, so an oversized cell never enters memory. */
function capped(db: DatabaseSync, sql: string): string {
  // Node before 22.16 lacks `columns`.
  const columns = db.prepare(sql).columns?.() ?? []
  if (columns.length === 0) return sql
  const cells = columns.map(({ name }) => {
    const cell = `"${name.replaceAll('"', '""')}"`
    return `CASE WHEN octet_length(${cell}) > ${MAX_CELL_BYTES} THEN '${CELL_LEFT_OUT}' ELSE ${cell} END AS ${cell}`
  })
  return `SELECT ${cells.join(", ")} FROM (${sql})`
}

function openAt(location: string, readOnly: boolean): DatabaseSync {
  // Node's SQLite, because better-sqlite3 is built without URI names; loaded lazily, because Node 22 prints a warning.
  const sqlite = process.getBuiltinModule("node:sqlite")
  if (!sqlite) throw new Error("Reading another program's database needs Node 22.15 or newer")
  return new sqlite.DatabaseSync(location, { readOnly })
}

/** Changes with the database. Times are too coarse, so it includes the header with its change counter. */
function stampOf(path: string): string {
  const sizes = ["", "-wal", "-journal"].map((suffix) => {
    const found = lookAt(path + suffix)
    return found ? `${found.ino}:${found.size}:${found.mtimeMs}` : "-"
  })
  return `${sizes.join(" ")} ${headerOf(path).toString("base64")}`
}

const headerOf = (path: string) => firstBytes(path, 100)
const sizeOf = (path: string) => lookAt(path)?.size
