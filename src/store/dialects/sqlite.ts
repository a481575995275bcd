import { chmodSync, existsSync, mkdirSync, renameSync, statSync } from "node:fs"
import { dirname } from "node:path"
import Database from "better-sqlite3"
import { type SqlBool, type SqliteDatabase, SqliteDialect, type SqliteStatement, sql } from "kysely"
import { Failure, type FailureCode } from "../../domain/failure.ts"
import { sleep } from "../../lib/clock.ts"
import { onTurnConflict, type PutRow, TURN_COLUMNS, toPutTurn } from "../tables/turns.ts"
import type { Db, StoreDialect } from "./dialect.ts"

export interface SqliteOptions {
  path: string
  /** Told where a damaged file was kept. */
  onKeptAside?(path: string): void
  /** For a thread that reads beside the owner: the file must be there, and is never checked, moved or written. */
  readOnly?: boolean
}

const BUSY_TIMEOUT_MS = 5000
/** Up to this size the file is checked whole at every start; a larger one only after a sign of damage. */
const CHECK_AT_START_BYTES = 64 * 1024 * 1024

export function sqlite(options: SqliteOptions): StoreDialect {
  let database: CachingDatabase
  // The busy timeout is off meanwhile: waiting for a reader would stop the whole program.
  const emptyLog = (db: Db) =>
    db.connection().execute(async () => {
      database.prepare("pragma busy_timeout = 0").all([])
      try {
        const [row] = database.prepare("pragma wal_checkpoint(truncate)").all([]) as { busy: number }[]
        return row!.busy === 0
      } catch (error) {
        if (isBusy(error)) return false
        throw error
      } finally {
        database.prepare(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`).all([])
      }
    })
  return {
    kind: "sqlite",
    place: options.path,
    types: { counter: "integer", long: "integer" },
    skipLocked: false,
    async open() {
      database = options.readOnly ? withStatementCache(openReader(options.path)) : openChecked(options)
      return new SqliteDialect({ database })
    },
    translate: translateSqlite,
    async relaxAround(_db, relaxed) {
      database.prepare(relaxed ? "pragma synchronous = normal" : "pragma synchronous = full").run([])
    },
    runAtOnce(db, text, parameters, { isRead }) {
      // Inside somebody else's transaction it would see what is not kept yet.
      if (!db.isTransaction && (!isRead || database.isInTransaction())) return undefined
      const statement = database.prepare(text)
      if (statement.reader) return statement.all(parameters)
      statement.run(parameters)
      return []
    },
    lockJournal: async () => {},
    lockSession: async () => {},
    lockLeases: async () => {},
    contains: (column, text) => sql<SqlBool>`instr(${sql.ref(column)}, ${text}) > 0`,
    jsonNumber: (column, key) => sql`json_extract(${sql.ref(column)}, ${sql.lit(`$.${key}`)})`,
    async rest(db) {
      await sql`pragma shrink_memory`.execute(db)
    },
    async purge(db) {
      await sql`vacuum`.execute(db)
      // A reader in another thread ends its query; one that does not is left to whoever empties the log later.
      for (let waitMs = 10; waitMs < 2_000 && !(await emptyLog(db)); waitMs *= 2) await sleep(waitMs)
    },
    emptyLog,
    async putTurns(_db, rows, { isTimeLent }) {
      // Straight to the prepared statement: the caller's transaction is on this very connection, and an import spends
      // its time here.
      const newest = database.prepare("select coalesce(max(seq), 0) as seq from turns")
      const before = (newest.all([]) as { seq: number }[])[0]!.seq
      const put = database.prepare(isTimeLent ? PUT_UNTIMED_TURN : PUT_TIMED_TURN)
      return rows.flatMap((row) => {
        const values = TURN_COLUMNS.map((column) => row[column])
        const changed = put.all(values) as PutRow[]
        return changed.map((found) => toPutTurn({ ...found, inserted: found.seq > before }))
      })
    },
    async facts(db) {
      const { rows } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db)
      const size = (path: string) => (existsSync(path) ? statSync(path).size : 0)
      return { sizeBytes: size(options.path) + size(`${options.path}-wal`), version: rows[0]!.version }
    },
  }
}

const putTurn = ({ isTimeLent }: { isTimeLent: boolean }) => `
  insert into turns (${TURN_COLUMNS.join(", ")}) values (${TURN_COLUMNS.map(() => "?").join(", ")})
  ${onTurnConflict(isTimeLent)} returning seq, session_id, kind, at_ms`
const PUT_UNTIMED_TURN = putTurn({ isTimeLent: true })
const PUT_TIMED_TURN = putTurn({ isTimeLent: false })

function openChecked(options: SqliteOptions): CachingDatabase {
  const { path } = options
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const checkPath = `${path}.check`
    const suspect = existsSync(checkPath)
    const db = openFile(path, suspect)
    if (suspect) renameSync(checkPath, `${checkPath}ed`)
    return withStatementCache(db)
  } catch (error) {
    const failure = translateSqlite(error)
    if (failure?.code !== "store_corrupt") throw failure ?? error
    options.onKeptAside?.(keepAside(path))
    return withStatementCache(openFile(path, false))
  }
}

function openFile(path: string, suspect: boolean): Database.Database {
  const db = new Database(path)
  try {
    chmodSync(path, 0o600)
    db.pragma("journal_mode = WAL")
    // FULL: what was acknowledged survives a power cut, not only a killed process. See docs/adr/0003.
    db.pragma("synchronous = FULL")
    db.pragma("foreign_keys = ON")
    db.pragma("secure_delete = ON")
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    db.pragma("cache_size = -16000")
    if (suspect || statSync(path).size <= CHECK_AT_START_BYTES) assertSound(db)
    return db
  } catch (error) {
    // Before the file is kept aside: closed later, SQLite would delete the -wal file of the new one by its name.
    db.close()
    throw error
  }
}

function openReader(path: string): Database.Database {
  const db = new Database(path, { readonly: true, fileMustExist: true })
  db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  db.pragma("cache_size = -8000")
  return db
}

function assertSound(db: Database.Database): void {
  const found = db.pragma("quick_check(1)", { simple: true })
  if (found !== "ok") throw new Failure("store_corrupt", `the database is damaged: ${found}`)
}

function keepAside(path: string): string {
  const aside = `${path}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  }
  return aside
}

type CachingDatabase = SqliteDatabase & { isInTransaction(): boolean }

/** Kysely prepares every query; the same few dozen texts recur. */
function withStatementCache(db: Database.Database): CachingDatabase {
  const cache = new Map<string, SqliteStatement>()
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw translateSqlite(error) ?? error
    }
  }
  return {
    isInTransaction: () => db.inTransaction,
    close: () => {
      cache.clear()
      db.close()
    },
    prepare(text) {
      // A failed statement may have ended the transaction already; a second rollback would hide the real error.
      if (text === "rollback" && !db.inTransaction)
        return {
          reader: false,
          all: () => [],
          run: () => ({ changes: 0, lastInsertRowid: 0 }),
          iterate: () => [][Symbol.iterator](),
        }
      const known = cache.get(text)
      if (known) return known
      const ready = guarded(() => db.prepare(text))
      const statement: SqliteStatement = {
        reader: ready.reader,
        all: (parameters) => guarded(() => ready.all(...parameters)),
        run: (parameters) => guarded(() => ready.run(...parameters)),
        iterate: (parameters) => guarded(() => ready.iterate(...parameters)),
      }
      if (cache.size >= 500) cache.clear()
      cache.set(text, statement)
      return statement
    },
  }
}

const CODES: [prefix: string, code: FailureCode, message: string][] = [
  ["SQLITE_FULL", "store_full", "the disk is full; the database could not be written"],
  ["SQLITE_READONLY", "store_readonly", "the database cannot be written"],
  ["SQLITE_CANTOPEN", "store_readonly", "the database cannot be opened"],
  ["SQLITE_IOERR", "store_failing", "the disk refuses the database"],
  ["SQLITE_CORRUPT", "store_corrupt", "the database is damaged"],
  ["SQLITE_NOTADB", "store_corrupt", "the database file is not a database"],
  ["SQLITE_BUSY", "store_busy", "another program holds the database"],
  ["EACCES", "store_readonly", "the folder of the database cannot be written"],
  ["EPERM", "store_readonly", "the database belongs to another user"],
  ["EROFS", "store_readonly", "the database is on a disk that cannot be written"],
  ["ENOSPC", "store_full", "the disk is full; the database could not be made"],
]

/** `locked` is our own connection: a statement that is still being read. */
const isBusy = (error: unknown) =>
  (error instanceof Failure && error.code === "store_busy") ||
  String((error as { code?: unknown } | null)?.code).startsWith("SQLITE_LOCKED")

export function translateSqlite(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== "string") return undefined
  const known = CODES.find(([prefix]) => code.startsWith(prefix))
  if (!known) return undefined
  return new Failure(known[1], known[2], { sqlite: code }, { cause: error })
}
