// Vectors by sqlite-vec, for bench/vectors.ts: what our own index would be replaced by.
import type Database from "better-sqlite3"
import { load } from "sqlite-vec"
import { quantise } from "../../src/search/vectors/quantised.ts"
import { rotationOf } from "../../src/search/vectors/rotation.ts"

/**
 * Eight-bit numbers compared one and all, by their cosine or, of one scale, by their distance; or codes, and then so many of the best by their eight-bit numbers. `bits` has the
 * sign of each component, `steps` three bits for its four steps, so that unequal bits are a distance of steps.
 */
export type Kind = "int8" | "l2" | `bits-${number}` | `steps-${number}`
export interface Peer {
  put(items: readonly { exchange: number; vector: Float32Array }[]): void
  search(vector: Float32Array, limit: number, accept?: (exchange: number) => boolean): { exchange: number }[]
}

export function sqliteVec(db: Database.Database, dimension: number, kind: Kind): Peer {
  load(db)
  const isExact = kind === "int8" || kind === "l2"
  const candidates = isExact ? undefined : Number(kind.split("-")[1])
  const thresholds = kind.startsWith("steps") ? [-LARGE, 0, LARGE] : [0]
  const code = (vector: Float32Array) => codeOf(vector, thresholds)
  const column = isExact
    ? `vector int8[${dimension}] distance_metric=${kind === "int8" ? "cosine" : "l2"}`
    : `vector bit[${dimension * thresholds.length}]`
  if (kind === "l2") db.pragma("mmap_size = 2147483648")
  db.exec(`create virtual table if not exists v using vec0(exchange integer primary key, ${column});
    create table if not exists stored (exchange integer primary key, vector blob not null)`)
  const rotate = rotationOf(dimension)
  const value = isExact ? "vec_int8(?)" : "vec_bit(?)"
  const insert = db.prepare(`insert into v (exchange, vector) values (?, ${value})`)
  const store = db.prepare("insert into stored values (?, ?)")
  const nearest = (more: string) =>
    db.prepare(`select exchange from v where vector match ${value} and k = ? ${more} order by distance`).pluck()
  const anywhere = nearest("")
  const among = nearest("and exchange in (select value from json_each(?))")
  const ranked = db.prepare(`select exchange from stored where exchange in (select value from json_each(?))
    order by vec_distance_cosine(vec_int8(vector), vec_int8(?)) limit ?`)
  const exchanges = db.prepare("select exchange from v").pluck().all() as number[]
  const bytesOf = (turned: Float32Array) => {
    const values = kind === "l2" ? ofOneScale(turned) : quantise(turned).values
    return Buffer.from(values.buffer, values.byteOffset, values.length)
  }
  const putAll = db.transaction((items: Parameters<Peer["put"]>[0]) => {
    for (const { exchange, vector } of items) {
      const turned = rotate(vector)
      const blob = bytesOf(turned)
      insert.run(BigInt(exchange), isExact ? blob : code(turned))
      if (candidates !== undefined) store.run(exchange, blob)
      exchanges.push(exchange)
    }
  })
  return {
    put: putAll,
    search(vector, limit, accept) {
      const turned = rotate(vector)
      const query = bytesOf(turned)
      const count = candidates === undefined ? limit : Math.max(candidates, limit)
      const key = isExact ? query : code(turned)
      const find = () => {
        if (!accept) return anywhere.all(key, count)
        const accepted = exchanges.filter(accept)
        // Where many are accepted, a longer list has enough of them.
        const longer = Math.ceil((count * exchanges.length * 1.3) / accepted.length) + 50
        const found =
          longer <= MOST_K && accepted.length > exchanges.length * (isExact ? 0.4 : 0)
            ? (anywhere.all(key, longer) as number[]).filter(accept).slice(0, count)
            : []
        if (found.length >= Math.min(count, accepted.length)) return found
        return among.all(key, count, JSON.stringify(accepted))
      }
      const found = find()
      if (isExact) return (found as number[]).map((exchange) => ({ exchange }))
      return ranked.all(JSON.stringify(found), query, limit) as { exchange: number }[]
    },
  }
}

/** Where those of a rotated vector are split into as many above as below, within each sign. */
const LARGE = 0.6745
/** Components of a rotated unit vector have a spread of 1 / sqrt(dimension). */
const ofOneScale = (vector: Float32Array) =>
  Int8Array.from(vector, (value) => Math.max(-127, Math.min(127, Math.round(value * Math.sqrt(vector.length) * 32))))

/** sqlite-vec's own limit. */
const MOST_K = 4_096

function codeOf(vector: Float32Array, thresholds: number[]): Buffer {
  const bits = Buffer.alloc(Math.ceil((vector.length * thresholds.length) / 8))
  const spread = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0) / vector.length)
  let bit = 0
  for (const value of vector)
    for (const threshold of thresholds) {
      if (value > threshold * spread) bits[bit >> 3]! |= 1 << (bit & 7)
      bit++
    }
  return bits
}
