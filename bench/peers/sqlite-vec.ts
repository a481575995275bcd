// Vectors by sqlite-vec, for bench/vectors.ts: what our own index would be replaced by.
import type Database from "better-sqlite3"
import { load } from "sqlite-vec"
import { quantise } from "../../src/search/vectors/quantised.ts"
import { rotationOf } from "../../src/search/vectors/rotation.ts"

/** Eight-bit numbers compared one and all, or signs, and then so many of the best by their eight-bit numbers. */
export type Kind = "int8" | `bits-${number}`
export interface Peer {
  put(items: readonly { exchange: number; vector: Float32Array }[]): void
  search(vector: Float32Array, limit: number, accept?: (exchange: number) => boolean): { exchange: number }[]
}

export function sqliteVec(db: Database.Database, dimension: number, kind: Kind): Peer {
  load(db)
  const candidates = kind === "int8" ? undefined : Number(kind.slice("bits-".length))
  const column = kind === "int8" ? `vector int8[${dimension}] distance_metric=cosine` : `vector bit[${dimension}]`
  db.exec(`create virtual table if not exists v using vec0(exchange integer primary key, ${column});
    create table if not exists stored (exchange integer primary key, vector blob not null)`)
  const rotate = rotationOf(dimension)
  const value = kind === "int8" ? "vec_int8(?)" : "vec_bit(?)"
  const insert = db.prepare(`insert into v (exchange, vector) values (?, ${value})`)
  const store = db.prepare("insert into stored values (?, ?)")
  const nearest = (more: string) =>
    db.prepare(`select exchange from v where vector match ${value} and k = ? ${more} order by distance`).pluck()
  const anywhere = nearest("")
  const among = nearest("and exchange in (select value from json_each(?))")
  const ranked = db.prepare(`select exchange from stored where exchange in (select value from json_each(?))
    order by vec_distance_cosine(vec_int8(vector), vec_int8(?)) limit ?`)
  const exchanges = db.prepare("select exchange from v").pluck().all() as number[]
  const bytes = ({ values }: { values: Int8Array }) => Buffer.from(values.buffer, values.byteOffset, values.length)
  const putAll = db.transaction((items: Parameters<Peer["put"]>[0]) => {
    for (const { exchange, vector } of items) {
      const turned = rotate(vector)
      const blob = bytes(quantise(turned))
      insert.run(BigInt(exchange), kind === "int8" ? blob : signs(turned))
      if (candidates !== undefined) store.run(exchange, blob)
      exchanges.push(exchange)
    }
  })
  return {
    put: putAll,
    search(vector, limit, accept) {
      const turned = rotate(vector)
      const query = bytes(quantise(turned))
      const count = candidates === undefined ? limit : Math.max(candidates, limit)
      const key = kind === "int8" ? query : signs(turned)
      const found = accept ? among.all(key, count, JSON.stringify(exchanges.filter(accept))) : anywhere.all(key, count)
      if (kind === "int8") return (found as number[]).map((exchange) => ({ exchange }))
      return ranked.all(JSON.stringify(found), query, limit) as { exchange: number }[]
    },
  }
}

function signs(vector: Float32Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(vector.length / 8))
  for (const [at, value] of vector.entries()) if (value > 0) bits[at >> 3]! |= 1 << (at & 7)
  return bits
}
