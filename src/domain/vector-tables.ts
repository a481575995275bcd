/** Storage of vectors: one per exchange, by the embedder that computed it last. */
export interface VectorTables {
  /** In any space, also while no embedder is reachable. */
  remove(exchanges: readonly number[]): Promise<void>
  /** The exchanges of each session that have a vector, of any space. */
  bySession(): Promise<Map<string, number[]>>
  /** Leaves no byte of removed vectors in any file. */
  purge(): Promise<void>
  /** The vectors of one space only. */
  space(space: Space): Promise<SpaceTables>
}

/** What comparable vectors have in common: their embedder and our storage format. */
export interface Space {
  id: string
  dimension: number
}

export interface SpaceTables {
  /** Replaces the exchange's vector of any space. */
  put(rows: readonly NewVector[], madeAtMs: number): Promise<void>
  /** When the vectors of these exchanges were computed. */
  madeAt(exchanges: readonly number[]): Promise<Map<number, number>>
  count(): Promise<number>
  /** By ascending exchange, starting after `after`. */
  page(after: number, limit: number): Promise<StoredVector[]>
  byExchange(exchanges: readonly number[]): Promise<StoredVector[]>
  /** Deletes vectors of other spaces, up to `limit`; returns their number. */
  removeForeign(limit: number): Promise<number>
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
