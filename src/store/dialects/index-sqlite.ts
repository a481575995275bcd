import { chmodSync, mkdirSync, rmSync, statSync } from "node:fs"
import { dirname } from "node:path"
import Database from "better-sqlite3"
import { Failure } from "../../domain/failure.ts"
import {
  type IndexChange,
  type IndexTables,
  IndexUnusable,
  type SegmentRow,
  type SessionRow,
  type Term,
  type TombstonesRow,
} from "../../domain/index-tables.ts"
import { translateSqlite } from "./sqlite.ts"

/** The key of a row of lists is segment * 2^32 + row: a segment's lists lie together, and writing a new one appends. */
const SEGMENT = 2 ** 32

/** Longer than this, the log is moved into the file also when it is a bad moment. Often a little: a search may wait for it. */
const LONG_LOG_BYTES = 4 * 1024 * 1024

/** Lists are read with statements for so many, the last of them for no key where there are fewer. */
const RUNS = [4, 16, 64].map((length) => {
  const values = Array(length).fill("(?)").join()
  return {
    length,
    text: `select key, bytes from (values ${values}) as sought cross join lists on key = sought.column1`,
  }
})
const NO_KEY = -1

const FREE_PAGES_KEPT = 64
const FREE_PAGES_AT_ONCE = 500

const SCHEMA = `
  create table if not exists meta (key text primary key, value text not null) without rowid;
  create table if not exists segments (segment integer primary key, size integer not null, docs blob not null);
  create table if not exists marks (segment integer primary key, removed blob not null, hidden blob not null);
  create table if not exists sessions (number integer primary key, id text not null);
  create table if not exists terms (word text primary key, term integer not null) without rowid;
  create table if not exists lists (key integer primary key, bytes blob not null);
`

/**
 * In a file of its own: writing here never holds up the archive. `archive` is the id of a shared archive; an index of
 * another one is unusable.
 */
export function sqliteIndex({ path, archive }: { path: string; archive?: string }): IndexTables {
  let file: OpenFile | undefined
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw translated(error, path)
    }
  }
  const on = <T>(work: (file: OpenFile) => T): T => {
    const opened = file
    if (!opened) throw new Error("the index is not open")
    return guarded(() => work(opened))
  }
  const all = <Row>(text: string, ...parameters: unknown[]) =>
    on(({ prepare }) => prepare(text).all(...parameters) as Row[])
  const open = () => {
    file = guarded(() => openFile(path, archive))
  }
  const close = () => {
    file?.db.close()
    file = undefined
  }
  return {
    open,
    close,
    clear() {
      close()
      try {
        for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true })
      } catch (error) {
        throw unusable(error, path)
      }
      open()
    },
    check: () => on(assertSameFile),
    meta: () =>
      Object.fromEntries(on(({ prepare }) => prepare("select key, value from meta").raw().all()) as [string, string][]),
    segments: () => all<SegmentRow>("select segment, size, docs from segments order by segment"),
    tombstones: () => all<TombstonesRow>("select segment, removed, hidden from marks"),
    sessions: () => all<SessionRow>("select number, id from sessions"),
    segmentsWithPostings: () =>
      on(({ prepare }) => {
        const found: number[] = []
        const next = prepare("select key from lists where key >= ? order by key limit 1").pluck()
        for (let from = 0; ; ) {
          const key = next.get(from) as number | undefined
          if (key === undefined) return found
          const segment = Math.floor(key / SEGMENT)
          found.push(segment)
          from = (segment + 1) * SEGMENT
        }
      }),
    termsOf: (words) =>
      on(({ prepare }) => {
        const find = prepare("select term from terms where word = ?").pluck()
        const found = new Map<string, number>()
        for (const word of words) {
          const term = find.get(word) as number | undefined
          if (term !== undefined) found.set(word, term)
        }
        return found
      }),
    termsWithPrefix: (prefix) =>
      on(({ prepare }) => {
        const find = prepare("select term from terms where word >= ? and word < ? order by word").pluck()
        return find.all(prefix, `${prefix}\u{10FFFF}`) as number[]
      }),
    wordsWithPrefix: (prefix, terms) =>
      all<Term>(
        `select word, term from terms
          where word >= @first and word < @last and term in (select value from json_each(@terms))`,
        { first: prefix, last: `${prefix}\u{10FFFF}`, terms: JSON.stringify(terms) },
      ),
    termsAfter: (word, limit) =>
      all<Term>("select word, term from terms where word > ? order by word limit ?", word, limit),
    postings: (keys) =>
      on(({ prepare }) => {
        const sought = keys.map(({ segment, row }) => segment * SEGMENT + row)
        const found = new Map<number, Uint8Array>()
        // A call costs as much as finding a row: many are found in one.
        for (let from = 0; from < sought.length; ) {
          const { length, text } = RUNS.find((each) => each.length >= sought.length - from) ?? RUNS.at(-1)!
          const run = Array.from({ length }, (_, at) => sought[from + at] ?? NO_KEY)
          const rows = prepare(text).raw().all(run) as [key: number, bytes: Uint8Array][]
          for (const [key, bytes] of rows) found.set(key, bytes)
          from += length
        }
        return sought.map((key) => found.get(key))
      }),
    postingsAfter(segment, row, limit) {
      const first = segment * SEGMENT
      return all<{ row: number; bytes: Uint8Array }>(
        "select key - @first as row, bytes from lists where key > @after and key < @end order by key limit @limit",
        { first, after: first + row, end: first + SEGMENT, limit },
      )
    },
    dropPostings: (segment, limit) =>
      on((opened) => {
        assertSameFile(opened)
        const rows = "select key from lists where key > ? and key < ? order by key limit ?"
        const drop = opened.prepare(`delete from lists where key in (${rows})`)
        return drop.run(segment * SEGMENT, (segment + 1) * SEGMENT, limit).changes > 0
      }),
    write: (change) =>
      on((opened) => {
        assertSameFile(opened)
        opened.db.transaction(() => apply(opened, change)).immediate()
      }),
    purge: () =>
      on(({ db }) => {
        // Also what moved from page to page before it was deleted: nothing but a new file is certain to be without it.
        db.exec("vacuum")
        db.pragma("wal_checkpoint(truncate)")
      }),
    checkpoint: (isIdle) =>
      on((opened) => {
        const logBytes = sizeOf(`${path}-wal`)
        if (isIdle) {
          const hasMore = giveBack(opened.db)
          if (logBytes > 0) opened.db.pragma("wal_checkpoint(truncate)")
          return hasMore
        }
        if (logBytes > Math.max(LONG_LOG_BYTES, opened.lastLogBytes * 1.25)) {
          opened.db.pragma("wal_checkpoint(passive)")
          // A reader may hold it up. Then it is not tried again until the log is longer still.
          opened.lastLogBytes = logBytes
        } else if (logBytes < LONG_LOG_BYTES) opened.lastLogBytes = 0
        return false
      }),
    sizeBytes: () => sizeOf(path) + sizeOf(`${path}-wal`),
  }
}

interface OpenFile {
  db: Database.Database
  prepare(text: string): Database.Statement
  path: string
  inode: number
  /** How long the log was when it was last moved for its length. */
  lastLogBytes: number
}

function openFile(path: string, archive: string | undefined): OpenFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const db = new Database(path)
  try {
    chmodSync(path, 0o600)
    // Before anything else is in the file, or it has no effect.
    db.pragma("auto_vacuum = incremental")
    db.pragma("journal_mode = WAL")
    // What a power cut takes is made again from the archive; the order of what is kept stays right.
    db.pragma("synchronous = NORMAL")
    // In the middle of a search it would cost many times the search.
    db.pragma("wal_autocheckpoint = 0")
    db.pragma(`journal_size_limit = ${LONG_LOG_BYTES / 2}`)
    db.pragma("busy_timeout = 5000")
    db.pragma("cache_size = -8000")
    assertArchive(db, archive)
    db.exec(SCHEMA)
    const statements = new Map<string, Database.Statement>()
    const prepare = (text: string) => {
      const known = statements.get(text)
      if (known) return known
      const statement = db.prepare(text)
      statements.set(text, statement)
      return statement
    }
    return { db, prepare, path, inode: statSync(path).ino, lastLogBytes: 0 }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Notes in a new file which archive it is of. */
export function assertArchive(db: Database.Database, archive: string | undefined): void {
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").pluck().all()
  if (tables.length === 0 && archive !== undefined) {
    db.exec("create table archive (id text not null)")
    db.prepare("insert into archive values (?)").run(archive)
  } else if (tables.length > 0) {
    const id = tables.includes("archive") ? db.prepare("select id from archive").pluck().get() : undefined
    if (id !== archive) throw new IndexUnusable("version", "it belongs to another archive")
  }
}

/** Merges leave free pages. Up to a tenth is kept for the next; what is more makes the file shorter, a little at a time. */
function giveBack(db: Database.Database): boolean {
  const free = () => db.pragma("freelist_count", { simple: true }) as number
  const kept = Math.max(FREE_PAGES_KEPT, (db.pragma("page_count", { simple: true }) as number) / 10)
  if (free() <= kept) return false
  db.pragma(`incremental_vacuum(${FREE_PAGES_AT_ONCE})`)
  return free() > kept
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

function assertSameFile({ path, inode }: OpenFile): void {
  const now = statSync(path, { throwIfNoEntry: false })
  if (now?.ino !== inode) throw new IndexUnusable("gone", `the index was deleted or replaced: ${path}`)
}

function apply({ prepare }: OpenFile, change: IndexChange): void {
  const run = <Row>(text: string, rows: readonly Row[] | undefined, values: (row: Row) => unknown[]) => {
    for (const row of rows ?? []) prepare(text).run(...values(row))
  }
  run("insert or replace into meta values (?, ?)", Object.entries(change.meta ?? {}), (entry) => entry)
  run("insert or replace into sessions values (?, ?)", change.sessions, ({ number, id }) => [number, id])
  run("insert into terms values (?, ?)", change.terms, ({ word, term }) => [word, term])
  run("insert into lists values (?, ?)", change.postings, ({ segment, row, bytes }) => [segment * SEGMENT + row, bytes])
  run("insert into segments values (@segment, @size, @docs)", change.segments, (row) => [row])
  run("insert or replace into marks values (@segment, @removed, @hidden)", change.tombstones, (row) => [row])
  run("delete from segments where segment = ?", change.retired, (segment) => [segment])
  run("delete from marks where segment = ?", change.retired, (segment) => [segment])
  run("delete from terms where word = ?", change.droppedTerms, ({ word }) => [word])
  run("delete from sessions where number = ?", change.droppedSessions, (number) => [number])
}

function translated(error: unknown, path: string): unknown {
  const failure = translateSqlite(error)
  if (failure?.code === "store_corrupt") return new IndexUnusable("damaged", "the index is damaged", { cause: error })
  const code = String((error as { code?: unknown } | null)?.code)
  // A table that is not as we make it, or a number given twice.
  if (/^SQLITE_(ERROR|CONSTRAINT|MISMATCH)/.test(code))
    return new IndexUnusable("damaged", `the index is not as it should be: ${(error as Error).message}`, {
      cause: error,
    })
  return failure?.code === "store_readonly" ? unusable(error, path) : (failure ?? error)
}

/** Unlike a damaged one, it cannot be rebuilt until a person has acted. */
function unusable(error: unknown, path: string): Failure {
  return new Failure("index_unusable", `the search index cannot be used: ${path}`, { path }, { cause: error })
}
