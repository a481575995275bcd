import type { Pool, PoolClient } from "pg"
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
import { openPool, type PostgresOptions, translatePostgres, withoutPassword } from "./postgres.ts"

/** Any fixed number: whoever makes the tables first, makes them alone. */
const SCHEMA_LOCK = 7_409_003

/** Words by their bytes, so that both databases put them in the same order. Lists are packed already. */
const SCHEMA = `
  create table if not exists index_meta (key text primary key, value text not null);
  create table if not exists index_segments (segment integer primary key, size integer not null, docs bytea not null);
  create table if not exists index_marks (segment integer primary key, removed bytea not null, hidden bytea not null);
  create table if not exists index_sessions (number integer primary key, id text not null);
  create table if not exists index_terms (word text collate "C" primary key, term integer not null);
  create table if not exists index_lists (segment integer not null, row integer not null, bytes bytea not null,
    primary key (segment, row));
  alter table index_lists alter column bytes set storage external;
  insert into index_meta values ('writes', '0') on conflict do nothing;
`
const TABLES = ["meta", "segments", "marks", "sessions", "terms", "lists"].map((name) => `index_${name}`)

/** In tables of the archive's own database. Buffers come as text, which the driver's other mode gets wrong. */
export function postgresIndex(options: PostgresOptions): IndexTables {
  let pool: Pool | undefined
  let writes: Writes = { last: 0, isCertain: true }
  const query = async <Row>(text: string, values: unknown[] = []): Promise<Row[]> => {
    if (!pool) throw new Error("the index is not open")
    try {
      return (await pool.query({ ...named(text), values })).rows as Row[]
    } catch (error) {
      throw translated(error)
    }
  }
  const inTransaction = async (work: (on: PoolClient) => Promise<void>): Promise<void> => {
    if (!pool) throw new Error("the index is not open")
    const client = await pool.connect().catch((error: unknown) => {
      throw translated(error)
    })
    let broken: Error | undefined
    try {
      // What a power cut takes is made again from the archive, which is further on in the same log.
      await client.query("begin; set local synchronous_commit = off")
      await work(client)
      await client.query("commit")
    } catch (error) {
      writes = { ...writes, isCertain: false }
      await client.query("rollback").catch((failed: Error) => {
        broken = failed
      })
      throw translated(error)
    } finally {
      client.release(broken)
    }
  }
  const make = async () => {
    await inTransaction(async (on) => {
      await on.query(`select pg_advisory_xact_lock(${SCHEMA_LOCK})`)
      await on.query(SCHEMA)
    })
    const [row] = await query<{ value: string }>("select value from index_meta where key = 'writes'")
    writes = { last: Number(row!.value), isCertain: true }
  }
  return {
    place: withoutPassword(options.url),
    async open() {
      pool ??= await openPool({ poolSize: 2, ...options })
      await make()
    },
    async clear() {
      pool ??= await openPool({ poolSize: 2, ...options })
      await inTransaction(async (on) => {
        await on.query(`drop table if exists ${TABLES.join(", ")}`)
      })
      await make()
    },
    async check() {
      const [row] = await query<{ found: string | null }>("select to_regclass('index_lists') as found")
      if (!row?.found) throw new IndexUnusable("gone", "the tables of the index were dropped")
    },
    meta: async () =>
      Object.fromEntries(
        (await query<{ key: string; value: string }>("select key, value from index_meta where key <> 'writes'")).map(
          ({ key, value }) => [key, value],
        ),
      ),
    segments: () => query<SegmentRow>("select segment, size, docs from index_segments order by segment"),
    tombstones: () => query<TombstonesRow>("select segment, removed, hidden from index_marks"),
    sessions: () => query<SessionRow>("select number, id from index_sessions"),
    async segmentsWithPostings() {
      const rows = await query<{ segment: number }>(`
        with recursive found as (
          (select segment from index_lists order by segment limit 1)
          union all
          select (select l.segment from index_lists l where l.segment > found.segment order by l.segment limit 1)
          from found where found.segment is not null
        ) select segment from found where segment is not null`)
      return rows.map(({ segment }) => segment)
    },
    async termsOf(words) {
      const rows = await query<Term>("select word, term from index_terms where word = any($1)", [words])
      return new Map(rows.map(({ word, term }) => [word, term]))
    },
    async termsWithPrefix(prefix) {
      const rows = await query<{ term: number }>(
        "select term from index_terms where word >= $1 and word < $2 order by word",
        [prefix, `${prefix}\u{10FFFF}`],
      )
      return rows.map(({ term }) => term)
    },
    wordsWithPrefix: (prefix, terms) =>
      query<Term>("select word, term from index_terms where word >= $1 and word < $2 and term = any($3)", [
        prefix,
        `${prefix}\u{10FFFF}`,
        terms,
      ]),
    termsAfter: (word, limit) =>
      query<Term>("select word, term from index_terms where word > $1 order by word limit $2", [word, limit]),
    async postings(keys) {
      const rows = await query<{ at: number; bytes: Uint8Array }>(
        `select k.at::integer as at, l.bytes
          from unnest($1::integer[], $2::integer[]) with ordinality as k(segment, row, at)
          join index_lists l on l.segment = k.segment and l.row = k.row`,
        [keys.map(({ segment }) => segment), keys.map(({ row }) => row)],
      )
      const found = new Array<Uint8Array | undefined>(keys.length).fill(undefined)
      for (const { at, bytes } of rows) found[at - 1] = bytes
      return found
    },
    postingsAfter: (segment, row, limit) =>
      query("select row, bytes from index_lists where segment = $1 and row > $2 order by row limit $3", [
        segment,
        row,
        limit,
      ]),
    async rowsAfter(segment, after, limit) {
      const rows = await query<{ row: number }>(
        "select row from index_lists where segment = $1 and row > $2 order by row limit $3",
        [segment, after, limit],
      )
      return rows.map(({ row }) => row)
    },
    async write(change) {
      let last = 0
      await inTransaction(async (on) => {
        last = await claim(on, writes)
        await apply(on, change)
      })
      writes = { last, isCertain: true }
    },
    async purge() {
      // Lists hold numbers only: once the words are gone, nobody can tell what they stood for.
      for (const table of ["index_terms", "index_sessions"]) await query(`vacuum full ${table}`)
    },
    checkpoint: async () => false,
    async sizeBytes() {
      const [row] = await query<{ size: number }>(
        "select coalesce(sum(pg_total_relation_size(to_regclass(name))), 0) as size from unnest($1::text[]) as name",
        [TABLES],
      )
      return row!.size
    },
    async close() {
      await pool?.end()
      pool = undefined
    },
  }
}

interface Writes {
  /** The number of the last write that was ours, or was seen when the tables were opened. */
  last: number
  /** False after a transaction whose end was not seen. */
  isCertain: boolean
}

/** Numbers a write. When somebody else has written meanwhile, what this process knows of the tables is no longer so. */
async function claim(on: PoolClient, { last, isCertain }: Writes): Promise<number> {
  const { rows } = await on.query<{ value: string }>(
    "update index_meta set value = (value::bigint + 1)::text where key = 'writes' returning value",
  )
  const next = Number(rows[0]?.value)
  if (next === last + 1 || (!isCertain && next === last + 2)) return next
  throw new Failure("store_busy", "another process writes the index of this database")
}

async function apply(on: PoolClient, change: IndexChange): Promise<void> {
  const run = async <Row>(text: string, rows: readonly Row[] | undefined, ...columns: ((row: Row) => unknown)[]) => {
    if (rows === undefined || rows.length === 0) return
    await on.query({ ...named(text), values: columns.map((column) => rows.map(column)) })
  }
  await run(
    `insert into index_meta select * from unnest($1::text[], $2::text[])
      on conflict (key) do update set value = excluded.value`,
    Object.entries(change.meta ?? {}),
    ([key]) => key,
    ([, value]) => value,
  )
  await run(
    `insert into index_sessions select * from unnest($1::integer[], $2::text[])
      on conflict (number) do update set id = excluded.id`,
    change.sessions,
    ({ number }) => number,
    ({ id }) => id,
  )
  await run(
    "insert into index_terms select * from unnest($1::text[], $2::integer[])",
    change.terms,
    ({ word }) => word,
    ({ term }) => term,
  )
  await run(
    "insert into index_lists select * from unnest($1::integer[], $2::integer[], $3::bytea[])",
    change.postings,
    ({ segment }) => segment,
    ({ row }) => row,
    ({ bytes }) => asBuffer(bytes),
  )
  await run(
    "insert into index_segments select * from unnest($1::integer[], $2::integer[], $3::bytea[])",
    change.segments,
    ({ segment }) => segment,
    ({ size }) => size,
    ({ docs }) => asBuffer(docs),
  )
  await run(
    `insert into index_marks select * from unnest($1::integer[], $2::bytea[], $3::bytea[])
      on conflict (segment) do update set removed = excluded.removed, hidden = excluded.hidden`,
    change.tombstones,
    ({ segment }) => segment,
    ({ removed }) => asBuffer(removed),
    ({ hidden }) => asBuffer(hidden),
  )
  await run("delete from index_segments where segment = any($1)", change.retired, (segment) => segment)
  await run("delete from index_marks where segment = any($1)", change.retired, (segment) => segment)
  if (change.droppedPostings) {
    const { segment, row } = change.droppedPostings
    await on.query("delete from index_lists where segment = $1 and row <= $2", [segment, row])
  }
  await run("delete from index_terms where word = any($1)", change.droppedTerms, ({ word }) => word)
  await run("delete from index_sessions where number = any($1)", change.droppedSessions, (number) => number)
}

const names = new Map<string, string>()

/** Under a name the server keeps what it made of the text. */
function named(text: string): { text: string; name: string } {
  const name = names.get(text) ?? `throughline_index_${names.size}`
  names.set(text, name)
  return { text, name }
}

/** Inside an array the driver takes only its own kind of bytes. */
const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** Classes of SQLSTATE: a table or column that is not there, a number given twice, damage. */
function translated(error: unknown): unknown {
  const code = String((error as { code?: unknown } | null)?.code)
  if (/^(42P01|42703|23|XX00[012])/.test(code))
    return new IndexUnusable(code === "42P01" ? "gone" : "damaged", `the index is not as it should be: ${code}`, {
      cause: error,
    })
  return translatePostgres(error) ?? error
}
