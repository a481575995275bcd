/** Where vectors are kept. One per exchange, of whichever embedder made it last. */
export interface VectorTables {
  /** Of any space, and also when no embedder can be reached. */
  remove(exchanges: readonly number[]): Promise<void>
  /** The exchanges of each session that have a vector, of any space. */
  bySession(): Promise<Map<string, number[]>>
  /** Of what was removed, no byte is left in any file. */
  purge(): Promise<void>
  /** The vectors of one space. Those of another are not seen through it. */
  space(space: Space): Promise<SpaceTables>
}

/** What vectors must have in common to be compared: the embedder that made them, and how we keep them. */
export interface Space {
  id: string
  dimension: number
}

export interface SpaceTables {
  /** Replaces what the exchange had, of whichever space. */
  put(rows: readonly NewVector[], madeAtMs: number): Promise<void>
  /** Which of these have a vector of this space, and when it was made. */
  madeAt(exchanges: readonly number[]): Promise<Map<number, number>>
  count(): Promise<number>
  /** In the order of exchanges, from the one after `after` on. */
  page(after: number, limit: number): Promise<StoredVector[]>
  byExchange(exchanges: readonly number[]): Promise<StoredVector[]>
  /** Deletes vectors of other spaces, at most so many; returns how many it were. */
  removeForeign(limit: number): Promise<number>
}

export interface StoredVector {
  exchange: number
  /** As eight-bit numbers: a component is `values[i] * scale`. All zero when the text had nothing to embed. */
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
