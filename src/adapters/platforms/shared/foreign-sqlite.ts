import { closeSync, copyFileSync, mkdtempSync, openSync, readSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import { pathToFileURL } from "node:url"

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
    for (const suffix of parts) copyFileSync(path + suffix, join(folder, `copy.db${suffix}`))
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
      all: (sql, ...params) => db.prepare(sql).all(...params) as ForeignRow[],
      iterate: (sql, ...params) => db.prepare(sql).iterate(...params) as Iterable<ForeignRow>,
    })
  } finally {
    try {
      db.exec("ROLLBACK")
    } catch {
      // Some errors have rolled it back already.
    }
  }
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
    const stat = statSync(path + suffix, { bigint: true, throwIfNoEntry: false })
    return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : "-"
  })
  return `${sizes.join(" ")} ${headerOf(path).toString("base64")}`
}

function headerOf(path: string): Buffer {
  const file = openSync(path, "r")
  try {
    const header = Buffer.alloc(100)
    return header.subarray(0, readSync(file, header, 0, 100, 0))
  } finally {
    closeSync(file)
  }
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}
