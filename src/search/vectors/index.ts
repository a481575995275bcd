import type { Embedder } from "../../domain/embedder.ts"
import type { SpaceTables, VectorHit, VectorTables } from "../../domain/vector-tables.ts"
import { type Clock, nextTurn } from "../../lib/clock.ts"
import { type Codes, makeCodes } from "./codes.ts"
import { cosine, isZero, quantise } from "./quantised.ts"
import { rotationOf } from "./rotation.ts"

/** The vectors of one embedder, by exchange. */
export interface VectorIndex {
  /** Those without a vector, or with an outdated one. */
  missing<T extends { exchange: number; changedAtMs: number }>(exchanges: readonly T[]): T[]
  put(items: readonly { exchange: number; sessionId: string; vector: Float32Array }[]): void
  remove(exchanges: readonly number[]): void
  /** Nearest first. Filters before it selects, so `accept` never shortens the result. */
  search(vector: Float32Array, limit: number, accept?: (exchange: number) => boolean): VectorHit[]
  /** The cosines of those that have a vector. */
  scores(vector: Float32Array, exchanges: readonly number[]): VectorHit[]
  count(): number
  /** Deletes a batch of vectors of other embedders; true if there are more. */
  removeForeign(): boolean
}

/** Part of the space's id: a change of the rotation or the stored format recomputes all vectors. */
const FORMAT = 1
const LOAD_AT_ONCE = 2_000
const FOREIGN_AT_ONCE = 1_000
/** Candidates by code that are compared by their vectors; more among many, which are closer together. */
const CANDIDATES = { least: 200, most: 800, oneIn: 800 }

export async function openVectorIndex(
  { id, dimension }: Pick<Embedder, "id" | "dimension">,
  tables: VectorTables,
  clock: Clock,
): Promise<VectorIndex> {
  const space = tables.space({ id: `${id}/${FORMAT}`, dimension })
  const memory = await load(space, dimension)
  const rotate = rotationOf(dimension)

  const scores = (query: Float32Array, exchanges: readonly number[]) =>
    space
      .byExchange(exchanges)
      .filter((row) => !isZero(row))
      .map((row) => ({ exchange: row.exchange, score: cosine(query, row) }))

  const candidates = (limit: number) => {
    const share = Math.min(CANDIDATES.most, Math.ceil(memory.codes.size / CANDIDATES.oneIn))
    return Math.max(CANDIDATES.least, limit * 4, share)
  }

  return {
    missing(exchanges) {
      const madeAt = space.madeAt(exchanges.map(({ exchange }) => exchange))
      return exchanges.filter(({ exchange, changedAtMs }) => (madeAt.get(exchange) ?? -1) < changedAtMs)
    },
    put(items) {
      const rows = items.map(({ vector, ...item }) => ({ ...item, ...quantise(rotate(vector)) }))
      space.put(rows, clock.nowMs())
      for (const row of rows) memory.put(row)
    },
    remove(exchanges) {
      tables.remove(exchanges)
      for (const exchange of exchanges) memory.remove(exchange)
    },
    search(vector, limit, accept) {
      const query = rotate(vector)
      const found = scores(query, memory.codes.best(query, candidates(limit), accept))
      return found.sort((a, b) => b.score - a.score || b.exchange - a.exchange).slice(0, limit)
    },
    scores: (vector, exchanges) => scores(rotate(vector), exchanges),
    count: memory.size,
    removeForeign: () => space.removeForeign(FOREIGN_AT_ONCE) === FOREIGN_AT_ONCE,
  }
}

interface Memory {
  codes: Codes
  put(row: { exchange: number; values: Int8Array; scale: number }): void
  remove(exchange: number): void
  size(): number
}

async function load(space: SpaceTables, dimension: number): Promise<Memory> {
  const codes = makeCodes(dimension)
  // Zero vectors share one code, which would crowd out real candidates.
  const empty = new Set<number>()
  const memory: Memory = {
    codes,
    put(row) {
      memory.remove(row.exchange)
      if (isZero(row)) empty.add(row.exchange)
      else codes.put(row.exchange, row.values)
    },
    remove(exchange) {
      codes.remove(exchange)
      empty.delete(exchange)
    },
    size: () => codes.size + empty.size,
  }
  for (let after = -1; ; await nextTurn()) {
    const rows = space.page(after, LOAD_AT_ONCE)
    for (const row of rows) memory.put(row)
    if (rows.length < LOAD_AT_ONCE) return memory
    after = rows.at(-1)!.exchange
  }
}
