import { PostgresDialect, type PostgresPool, type PostgresPoolClient, type SqlBool, sql } from "kysely"
import type { Client, Pool, PoolClient } from "pg"
import { Failure, type FailureCode } from "../../domain/failure.ts"
import type { PutTurn } from "../../domain/store.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { onTurnConflict, TURN_COLUMNS, toPutTurn } from "../tables/turns.ts"
import type { StoreDialect } from "./dialect.ts"
import { WORD_COLUMNS } from "./word-columns.ts"

export interface PostgresOptions {
  url: string
  poolSize?: number
  onError?(error: unknown): void
}

/** Any fixed number: all daemons on one store must agree on it. */
const JOURNAL_LOCK = 7_409_001
const LEASES_LOCK = 7_409_002
const CHANNEL = "throughline"
/** Parameters of one statement are limited to 65,535. */
const TURNS_AT_ONCE = 2_000
const CONNECT_MS = 5_000
const LISTEN_AGAIN_MS = 1_000

export function postgres(options: PostgresOptions): StoreDialect {
  return {
    kind: "postgres",
    place: withoutPassword(options.url),
    types: { counter: "bigserial", long: "bigint" },
    skipLocked: true,
    async open() {
      return new PostgresDialect({ pool: guardPool(await openPool(options)) })
    },
    translate: translatePostgres,
    async relaxInside(db) {
      await sql`set local synchronous_commit = off`.execute(db)
    },
    async lockJournal(db) {
      await sql`select pg_advisory_xact_lock(${sql.lit(JOURNAL_LOCK)})`.execute(db)
    },
    async lockSession(db, sessionId) {
      await sql`select id from sessions where id = ${sessionId} for update`.execute(db)
    },
    async lockLeases(db) {
      await sql`select pg_advisory_xact_lock(${sql.lit(LEASES_LOCK)})`.execute(db)
    },
    contains: (column, text) => sql<SqlBool>`position(${text} in ${sql.ref(column)}) > 0`,
    jsonNumber: (column, key) => sql`(${sql.ref(column)}::json ->> ${sql.lit(key)})::float8`,
    async purge(db) {
      for (const table of Object.keys(WORD_COLUMNS)) {
        await sql`vacuum full ${sql.table(table)}`.execute(db)
      }
    },
    async putTurns(db, rows, { isTimeLent }) {
      const put: PutTurn[] = []
      for (let at = 0; at < rows.length; at += TURNS_AT_ONCE) {
        // PostgreSQL refuses NUL in text; nothing that a person reads is lost with it.
        const some = rows.slice(at, at + TURNS_AT_ONCE).map((row) => ({ ...row, text: row.text.replaceAll("\0", "") }))
        const values = some.map((row) => sql`(${sql.join(TURN_COLUMNS.map((column) => row[column]))})`)
        const result = await sql<Parameters<typeof toPutTurn>[0]>`
          insert into turns (${sql.raw(TURN_COLUMNS.join(", "))}) values ${sql.join(values)}
          ${sql.raw(onTurnConflict(isTimeLent))} returning seq, session_id, kind, at_ms, xmax = 0 as inserted`.execute(
          db,
        )
        put.push(...result.rows.map(toPutTurn))
      }
      return put
    },
    async facts(db) {
      const { rows } = await sql<{ size: number; version: string }>`
        select pg_database_size(current_database()) as size, current_setting('server_version') as version`.execute(db)
      return { sizeBytes: rows[0]!.size, version: rows[0]!.version }
    },
    async notify(db) {
      await sql`select pg_notify(${CHANNEL}, '')`.execute(db)
    },
    async listen(onWake) {
      const stopping = new AbortController()
      let current: Awaited<ReturnType<typeof startListening>> | undefined = await startListening(options, onWake)
      const listening = superviseLoop({
        name: "database notifications",
        signal: stopping.signal,
        firstRetryMs: LISTEN_AGAIN_MS,
        stallsAfterMs: Number.POSITIVE_INFINITY,
        onTrouble: (error) => options.onError?.(error),
        async round(signal, alive) {
          const wasCut = current === undefined
          current ??= await startListening(options, onWake)
          if (signal.aborted) return current.client.end()
          // What was announced in between was missed.
          if (wasCut) onWake()
          alive()
          await current.ended
          current = undefined
          throw new Error("the connection that listens for changes was closed")
        },
      })
      return async () => {
        stopping.abort()
        await current?.client.end()
        await listening
      }
    },
  }
}

export async function openPool(options: PostgresOptions): Promise<Pool> {
  const pg = await loadPg()
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 8,
    connectionTimeoutMillis: CONNECT_MS,
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        numberParser(oid) ?? pg.types.getTypeParser(oid, format as "text"),
    },
  } as ConstructorParameters<typeof pg.Pool>[0])
  // Without these listeners, a connection that the server closes would end the process: in use, or idle.
  pool.on("connect", (client) => client.on("error", (error) => options.onError?.(error)))
  pool.on("error", () => {})
  return pool
}

async function startListening(
  options: PostgresOptions,
  onWake: () => void,
): Promise<{ client: Client; ended: Promise<void> }> {
  const pg = await loadPg()
  const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: CONNECT_MS, keepAlive: true })
  client.on("notification", onWake)
  client.on("error", (error) => options.onError?.(error))
  const ended = new Promise<void>((resolve) => client.once("end", () => resolve()))
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    return { client, ended }
  } catch (error) {
    await client.end().catch(() => {})
    throw translatePostgres(error) ?? error
  }
}

async function loadPg(): Promise<typeof import("pg")> {
  try {
    const module = await import("pg")
    return module.default as unknown as typeof import("pg")
  } catch (error) {
    throw new Failure(
      "dependency_missing",
      "PostgreSQL needs the package `pg`: npm install pg",
      { package: "pg" },
      { cause: error },
    )
  }
}

/** 64-bit integers and sums arrive as text; every number that we store fits a JavaScript number. */
function numberParser(oid: number): ((text: string) => number) | undefined {
  const INT8 = 20
  const NUMERIC = 1700
  return oid === INT8 || oid === NUMERIC ? Number : undefined
}

function guardPool(pool: Pool): PostgresPool {
  const guarded = new WeakMap<PoolClient, PostgresPoolClient>()
  return {
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect().catch(rethrow)
      const known = guarded.get(client)
      if (known) return known
      const wrapper = {
        query: (text: string, parameters?: unknown[]) => client.query(text, parameters as unknown[]).catch(rethrow),
        release: () => client.release(),
      } as unknown as PostgresPoolClient
      guarded.set(client, wrapper)
      return wrapper
    },
  } as PostgresPool
}

function rethrow(error: unknown): never {
  throw translatePostgres(error) ?? error
}

const CODES: Record<string, [code: FailureCode, message: string]> = {
  "53100": ["store_full", "the database server's disk is full"],
  "25006": ["store_readonly", "the database server accepts no writes"],
  "42501": ["store_readonly", "this database user may not write"],
  "28P01": ["store_unreachable", "the database server refused the password"],
  "28000": ["store_unreachable", "the database server refused the user"],
  "3D000": ["store_unreachable", "there is no database of that name"],
  "53300": ["store_busy", "the database server has no connection free"],
  ECONNREFUSED: ["store_unreachable", "the database server does not answer"],
  ENOTFOUND: ["store_unreachable", "the database server's name is unknown"],
  ECONNRESET: ["store_unreachable", "the database server closed the connection"],
  EPIPE: ["store_unreachable", "the database server closed the connection"],
  ETIMEDOUT: ["store_unreachable", "the database server does not answer"],
  EHOSTUNREACH: ["store_unreachable", "there is no way to the database server"],
  ENETUNREACH: ["store_unreachable", "there is no way to the database server"],
  EAI_AGAIN: ["store_unreachable", "the database server's name cannot be looked up"],
}

export function translatePostgres(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error
  const code = (error as { code?: unknown } | null)?.code
  const known = typeof code === "string" ? (CODES[code] ?? connectionLost(code)) : undefined
  if (known) return new Failure(known[0], known[1], { postgres: code }, { cause: error })
  const text = error instanceof Error ? error.message : ""
  if (/Connection terminated|is not queryable|timeout exceeded when trying to connect|timeout expired/.test(text)) {
    return new Failure("store_unreachable", "the database server does not answer", {}, { cause: error })
  }
  return undefined
}

/** SQLSTATE classes 08 (connection) and 57P (shutting down). */
function connectionLost(code: string): [FailureCode, string] | undefined {
  return /^(08|57P)/.test(code) ? ["store_unreachable", "the connection to the database server was lost"] : undefined
}

export function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url)
    if (parsed.password) parsed.password = "***"
    if (parsed.searchParams.has("password")) parsed.searchParams.set("password", "***")
    return parsed.href
  } catch {
    return "postgres"
  }
}
