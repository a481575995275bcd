import { chmodSync, rmSync } from "node:fs"
import Sqlite, { type Database } from "better-sqlite3"
import { IndexUnusable } from "../../domain/index-tables.ts"
import type { NewVector, Space, SpaceTables, StoredVector, VectorTables } from "../../domain/vector-tables.ts"
import { assertArchive } from "./index-sqlite.ts"
import { translateSqlite } from "./sqlite.ts"

const TABLE = `create table if not exists vectors (
  exchange integer primary key, session_id text not null, embedder text not null, dimension integer not null,
  made_at_ms integer not null, vector blob not null
)`

interface Row {
  exchange: number
  vector: Buffer
}

/**
 * In a file of their own, so that rebuilding the index keeps what an embedder was paid for. `archive` is the id of a shared
 * archive; vectors of another one are dropped.
 */
export function sqliteVectors(options: { path: string; archive?: string }): VectorTables & { close(): void } {
  let db: Database
  try {
    db = openFile(options)
  } catch (error) {
    const isUnusable = error instanceof IndexUnusable || translateSqlite(error)?.code === "store_corrupt"
    if (!isUnusable) throw translateSqlite(error) ?? error
    for (const suffix of ["", "-wal", "-shm"]) rmSync(options.path + suffix, { force: true })
    db = openFile(options)
  }
  return { ...vectorsSqlite(db), close: () => void db.close() }
}

function openFile({ path, archive }: { path: string; archive?: string }): Database {
  const db = new Sqlite(path)
  try {
    chmodSync(path, 0o600)
    assertArchive(db, archive)
    db.pragma("journal_mode = WAL")
    db.pragma("synchronous = NORMAL")
    db.pragma("secure_delete = ON")
    db.pragma("busy_timeout = 5000")
    db.pragma("cache_size = -4000")
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** The caller owns the database. */
export function vectorsSqlite(db: Database): VectorTables {
  guarded(() => db.exec(TABLE))
  const remove = db.prepare("delete from vectors where exchange in (select value from json_each(?))")
  const bySession = db.prepare(
    "select session_id as id, json_group_array(exchange) as exchanges from vectors group by 1",
  )
  return {
    remove: (exchanges) => guarded(() => void remove.run(list(exchanges))),
    bySession: () =>
      new Map(
        guarded(() => bySession.all() as { id: string; exchanges: string }[]).map(({ id, exchanges }) => [
          id,
          JSON.parse(exchanges),
        ]),
      ),
    purge: () =>
      guarded(() => {
        db.exec("vacuum")
        db.pragma("wal_checkpoint(truncate)")
      }),
    space: (space) => guarded(() => tablesOf(db, space)),
  }
}

function tablesOf(db: Database, { id, dimension }: Space): SpaceTables {
  const space = { id, dimension }
  // No index on the embedder: there is only one except during a change, and pages follow the primary key.
  const mine = "from vectors where embedder = @id and dimension = @dimension"
  const put = db.prepare(
    `insert or replace into vectors values (@exchange, @sessionId, @id, @dimension, @madeAtMs, @vector)`,
  )
  const madeAt = db.prepare(
    `select exchange, made_at_ms ${mine} and exchange in (select value from json_each(@exchanges))`,
  )
  const count = db.prepare(`select count(*) ${mine}`).pluck()
  const page = db.prepare(`select exchange, vector ${mine} and exchange > @after order by exchange limit @limit`)
  const byExchange = db.prepare(
    `select exchange, vector ${mine} and exchange in (select value from json_each(@exchanges))`,
  )
  const removeForeign = db.prepare(`delete from vectors where exchange in
    (select exchange from vectors where embedder <> @id or dimension <> @dimension order by exchange limit @limit)`)
  const putAll = db.transaction((rows: readonly NewVector[], madeAtMs: number) => {
    for (const row of rows) {
      const { exchange, sessionId } = row
      put.run({ exchange, sessionId, ...space, madeAtMs, vector: toBlob(row) })
    }
  })
  return {
    put: (rows, madeAtMs) => guarded(() => putAll(rows, madeAtMs)),
    madeAt: (exchanges) =>
      new Map(guarded(() => madeAt.raw().all({ ...space, exchanges: list(exchanges) }) as [number, number][])),
    count: () => guarded(() => count.get(space)) as number,
    page: (after, limit) => guarded(() => page.all({ ...space, after, limit }) as Row[]).map(toStored),
    byExchange: (exchanges) =>
      guarded(() => byExchange.all({ ...space, exchanges: list(exchanges) }) as Row[]).map(toStored),
    removeForeign: (limit) => guarded(() => removeForeign.run({ ...space, limit })).changes,
  }
}

const list = (exchanges: readonly number[]) => JSON.stringify(exchanges)
const toStored = ({ exchange, vector }: Row): StoredVector => ({ exchange, ...fromBlob(vector) })

function guarded<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw translateSqlite(error) ?? error
  }
}

const SCALE_BYTES = 4

/** The scale as a 32-bit float, then one byte per component. */
function toBlob({ values, scale }: Pick<StoredVector, "values" | "scale">): Buffer {
  const blob = Buffer.allocUnsafe(SCALE_BYTES + values.length)
  blob.writeFloatLE(scale)
  blob.set(new Uint8Array(values.buffer, values.byteOffset, values.length), SCALE_BYTES)
  return blob
}

function fromBlob(blob: Buffer): Pick<StoredVector, "values" | "scale"> {
  return {
    values: new Int8Array(blob.buffer, blob.byteOffset + SCALE_BYTES, blob.length - SCALE_BYTES),
    scale: blob.readFloatLE(),
  }
}
