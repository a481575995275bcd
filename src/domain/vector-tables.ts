/** Storage of vectors: one per exchange, by the embedder that computed it last. */
export interface VectorTables {
  /** In any space, also while no embedder is reachable. */
  remove(exchanges: readonly number[]): void
  /** The exchanges of each session that have a vector, of any space. */
  bySession(): Map<string, number[]>
  /** Leaves no byte of removed vectors in any file. */
  purge(): void
  /** The vectors of one space only. */
  space(space: Space): SpaceTables
}

/** What comparable vectors have in common: their embedder and our storage format. */
export interface Space {
  id: string
  dimension: number
}

export interface SpaceTables {
  /** Replaces the exchange's vector of any space. */
  put(rows: readonly NewVector[], madeAtMs: number): void
  /** When the vectors of these exchanges were computed. */
  madeAt(exchanges: readonly number[]): Map<number, number>
  count(): number
  /** By ascending exchange, starting after `after`. */
  page(after: number, limit: number): StoredVector[]
  byExchange(exchanges: readonly number[]): StoredVector[]
  /** Deletes vectors of other spaces, up to `limit`; returns their number. */
  removeForeign(limit: number): number
}

export interface StoredVector {
  exchange: number
  /** Quantised: a component is `values[i] * scale`. All zero if the text had nothing to embed. */
  values: Int8Array
  scale: number
}

export interface NewVector extends StoredVector {
  sessionId: string
}

export interface VectorHit {
  exchange: number
  /** The cosine. */
  score: number
}
