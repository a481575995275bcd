import type { Pool, PoolClient } from "pg"
import type { Space, SpaceTables, StoredVector, VectorHit, VectorTables } from "../../domain/vector-tables.ts"
import { fromBlob, toBlob } from "../tables/vector-blob.ts"
import { openPool, type PostgresOptions, translatePostgres } from "./postgres.ts"

/** Any fixed number: daemons that start together make the table one after the other. */
const TABLE_LOCK = 7_409_004
/** pgvector's own limits: of the type, and of what it can make an index of. */
const MAX_DIMENSION = 16_000
const MAX_INDEXED_DIMENSION = 2_000
const UNDEFINED_TABLE = "42P01"

/** In the archive's own database, by connections of their own. */
export async function postgresVectors(options: PostgresOptions): Promise<VectorTables & { close(): Promise<void> }> {
  const pool = await openPool(options)
  return { ...vectorsPostgres(pool), close: () => pool.end() }
}

/** On a pool that is open already, and that whoever opened it ends. */
export function vectorsPostgres(pool: Pool): VectorTables {
  const ifThere = (text: string, values: unknown[] = []) =>
    pool.query(text, values).catch((error: { code?: string }) => {
      if (error.code !== UNDEFINED_TABLE) throw translatePostgres(error) ?? error
    })
  return {
    async remove(exchanges) {
      await ifThere("delete from index_vectors where exchange = any($1::bigint[])", [exchanges])
    },
    async purge() {
      await ifThere("vacuum full index_vectors")
    },
    async space(space) {
      const version = space.dimension <= MAX_DIMENSION ? await pgvectorVersion(pool) : undefined
      await makeTable(pool, space.dimension, version !== undefined)
      return tablesOf(pool, space, version)
    },
  }
}

/** Undefined where the extension is not there, or this user may not make use of it. */
async function pgvectorVersion(pool: Pool): Promise<string | undefined> {
  const installed = async () =>
    (await query<{ extversion: string }>(pool, "select extversion from pg_extension where extname = 'vector'"))[0]
  const found = await installed()
  if (found) return found.extversion
  const available = await query(pool, "select 1 from pg_available_extensions where name = 'vector'")
  if (available.length === 0) return undefined
  // It may be refused for want of rights, or because another daemon was faster.
  await pool.query("create extension if not exists vector").catch(() => {})
  return (await installed())?.extversion
}

/** A table for another dimension, or made when pgvector was not there, is made anew: its vectors cannot be compared. */
async function makeTable(pool: Pool, dimension: number, pgvector: boolean): Promise<void> {
  const type = pgvector ? `vector(${dimension})` : "bytea"
  await inTransaction(pool, async (client) => {
    await client.query("select pg_advisory_xact_lock($1)", [TABLE_LOCK])
    const { rows } = await client.query<{ type: string }>(
      `select format_type(atttypid, atttypmod) as type from pg_attribute
       where attrelid = to_regclass('index_vectors') and attname = 'vector'`,
    )
    if (rows[0] && !rows[0].type.endsWith(type)) await client.query("drop table index_vectors")
    else if (rows[0]) return
    await client.query(`create table index_vectors (
      exchange bigint primary key, session_id text not null, embedder text not null, dimension integer not null,
      made_at_ms bigint not null, vector ${type} not null)`)
    if (pgvector && dimension <= MAX_INDEXED_DIMENSION)
      await client.query("create index index_vectors_near on index_vectors using hnsw (vector vector_cosine_ops)")
  })
}

function tablesOf(pool: Pool, { id, dimension }: Space, pgvector: string | undefined): SpaceTables {
  const mine = "from index_vectors where embedder = $1 and dimension = $2"
  const select = pgvector ? "vector::real[] as vector" : "vector"
  const toStored = pgvector ? fromNumbers : fromBytes
  const toColumn: (row: StoredVector) => Buffer | string = pgvector ? toText : toBlob
  const tables: SpaceTables = {
    async put(rows, madeAtMs) {
      await query(
        pool,
        `insert into index_vectors (exchange, session_id, embedder, dimension, made_at_ms, vector)
         select e, s, $1, $2, $3, v from unnest($4::bigint[], $5::text[], $6::${pgvector ? "vector" : "bytea"}[]) as t(e, s, v)
         on conflict (exchange) do update set session_id = excluded.session_id, embedder = excluded.embedder,
           dimension = excluded.dimension, made_at_ms = excluded.made_at_ms, vector = excluded.vector`,
        [id, dimension, madeAtMs, rows.map((r) => r.exchange), rows.map((r) => r.sessionId), rows.map(toColumn)],
      )
    },
    async madeAt(exchanges) {
      const text = `select exchange::float8, made_at_ms::float8 ${mine} and exchange = any($3::bigint[])`
      const rows = await query<{ exchange: number; made_at_ms: number }>(pool, text, [id, dimension, exchanges])
      return new Map(rows.map((row) => [row.exchange, row.made_at_ms]))
    },
    async count() {
      const [row] = await query<{ count: number }>(pool, `select count(*)::float8 as count ${mine}`, [id, dimension])
      return row!.count
    },
    async page(after, limit) {
      const text = `select exchange::float8, ${select} ${mine} and exchange > $3 order by exchange limit $4`
      return (await query<Row>(pool, text, [id, dimension, after, limit])).map(toStored)
    },
    async byExchange(exchanges) {
      const text = `select exchange::float8, ${select} ${mine} and exchange = any($3::bigint[])`
      return (await query<Row>(pool, text, [id, dimension, exchanges])).map(toStored)
    },
    async removeForeign(limit) {
      const text = `delete from index_vectors where exchange in
        (select exchange from index_vectors where embedder <> $1 or dimension <> $2 order by exchange limit $3) returning 1`
      return (await query(pool, text, [id, dimension, limit])).length
    },
  }
  return pgvector ? { ...tables, nearest: nearestBy(pool, { id, dimension }, pgvector) } : tables
}

/** An index of neighbours ends early by its nature. When too few are accepted, more are asked for, and in the end all, exactly. */
function nearestBy(pool: Pool, { id, dimension }: Space, version: string): NonNullable<SpaceTables["nearest"]> {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  const goesOn = major > 0 || minor >= 8
  return (vector, limit, accept) =>
    inTransaction(pool, async (client) => {
      const literal = `[${vector.join(",")}]`
      if (goesOn) await client.query("set local hnsw.iterative_scan = strict_order")
      for (let [count, exact] = [Math.max(100, limit * 2), dimension > MAX_INDEXED_DIMENSION]; ; count *= 8) {
        await client.query(
          exact ? "set local enable_indexscan = off" : `set local hnsw.ef_search = ${Math.min(1000, count)}`,
        )
        const { rows } = await client.query<VectorHit>(
          `select exchange::float8 as exchange, 1 - (vector <=> $3::vector) as score from index_vectors
           where embedder = $1 and dimension = $2 order by vector <=> $3::vector limit $4`,
          [id, dimension, literal, count],
        )
        // Nothing is near to the zero vector, nor it to anything.
        const found = rows.filter((row) => !Number.isNaN(row.score) && (accept?.(row.exchange) ?? true))
        if (found.length >= limit || (exact && rows.length < count)) return found.slice(0, limit)
        exact ||= rows.length < count
      }
    })
}

interface Row {
  exchange: number
  vector: Buffer | number[]
}

const fromBytes = ({ exchange, vector }: Row): StoredVector => ({ exchange, ...fromBlob(vector as Buffer) })

function fromNumbers({ exchange, vector }: Row): StoredVector {
  const numbers = vector as number[]
  const scale = Math.max(...numbers.map(Math.abs)) / 127
  return { exchange, scale, values: Int8Array.from(numbers, (value) => (scale === 0 ? 0 : Math.round(value / scale))) }
}

const toText = ({ values, scale }: StoredVector) => `[${Array.from(values, (value) => value * scale).join(",")}]`

async function query<T extends object>(pool: Pool, text: string, values: unknown[] = []): Promise<T[]> {
  try {
    return (await pool.query<T>(text, values)).rows
  } catch (error) {
    throw translatePostgres(error) ?? error
  }
}

async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  let client: PoolClient | undefined
  try {
    client = await pool.connect()
    await client.query("begin")
    const result = await work(client)
    await client.query("commit")
    return result
  } catch (error) {
    await client?.query("rollback").catch(() => {})
    throw translatePostgres(error) ?? error
  } finally {
    client?.release()
  }
}
