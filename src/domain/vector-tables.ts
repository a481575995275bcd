/** Where the vectors of one embedder are kept. Those of another are never read, and go as new ones come. */
export interface VectorTables {
  /** Replaces what the exchange had, of whichever embedder. */
  put(rows: readonly NewVector[], madeAtMs: number): Promise<void>
  remove(exchanges: readonly number[]): Promise<void>
  /** Which of these have a vector of this embedder. */
  having(exchanges: readonly number[]): Promise<Set<number>>
  count(): Promise<number>
  /** In the order of exchanges, from the one after `after` on. */
  page(after: number, limit: number): Promise<StoredVector[]>
  byExchange(exchanges: readonly number[]): Promise<StoredVector[]>
  /** Deletes vectors of other embedders, at most so many; how many it were. */
  removeForeign(limit: number): Promise<number>
  /** Of what was removed, no byte is left in any file. */
  purge(): Promise<void>
  /** Only where the database ranks by itself; then no codes are kept in memory. Nearest first. */
  nearest?(vector: Float32Array, limit: number, accept?: (exchange: number) => boolean): Promise<VectorHit[]>
}

export interface NewVector {
  exchange: number
  sessionId: string
  /** Of length 1, or zero. */
  vector: Float32Array
}

export interface StoredVector {
  exchange: number
  /** As eight-bit numbers: a component is `values[i] * scale`. */
  values: Int8Array
  scale: number
}

export interface VectorHit {
  exchange: number
  /** The cosine. */
  score: number
}

/** Opens the tables for one embedder. */
export type OpenVectorTables = (embedder: { id: string; dimension: number }) => Promise<VectorTables>
