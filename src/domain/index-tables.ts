/**
 * Storage of the search engine's postings, which knows nothing of their meaning. All of it can be rebuilt from
 * the archive.
 */
export interface IndexTables {
  /** Creates missing tables. Throws IndexUnusable when existing ones cannot be read. */
  open(): void
  /** Deletes everything, even if damaged, and opens empty tables. */
  clear(): void
  /** Throws IndexUnusable when the tables were replaced or deleted. */
  check(): void
  meta(): Record<string, string>
  segments(): SegmentRow[]
  tombstones(): TombstonesRow[]
  sessions(): SessionRow[]
  /** Segments with postings, with or without a row. */
  segmentsWithPostings(): number[]
  termsOf(words: readonly string[]): Map<string, number>
  /** Ordered by the words' bytes. */
  termsWithPrefix(prefix: string): number[]
  /** Those with these terms, in any order. */
  wordsWithPrefix(prefix: string, terms: readonly number[]): Term[]
  /** Ordered by bytes. */
  termsAfter(word: string, limit: number): Term[]
  /** In the order of the keys; undefined where there is none. */
  postings(keys: readonly PostingKey[]): (Uint8Array | undefined)[]
  /** The next rows of a segment. */
  postingsAfter(segment: number, row: number, limit: number): { row: number; bytes: Uint8Array }[]
  /** Deletes the next rows of a segment; true if there were any. */
  dropPostings(segment: number, limit: number): boolean
  /** One short transaction. */
  write(change: IndexChange): void
  /** Overwrites what deleted rows left behind. */
  purge(): void
  /**
   * Checkpoints the write-ahead log; unless idle, only a long one.
   * When idle, also frees unused pages, a few at a time: true when there are more.
   */
  checkpoint(isIdle: boolean): boolean
  sizeBytes(): number
  close(): void
}

/** A row of postings; the engine numbers them within a segment, from 1, in 31 bits. */
export interface PostingKey {
  segment: number
  row: number
}

export interface SegmentRow {
  segment: number
  size: number
  /** The documents' facts, as the engine encodes them. */
  docs: Uint8Array
}

export interface TombstonesRow {
  segment: number
  removed: Uint8Array
  hidden: Uint8Array
}

export interface SessionRow {
  number: number
  id: string
}

export interface Term {
  word: string
  term: number
}

export interface IndexChange {
  meta?: Record<string, string>
  sessions?: SessionRow[]
  terms?: Term[]
  postings?: (PostingKey & { bytes: Uint8Array })[]
  segments?: SegmentRow[]
  tombstones?: TombstonesRow[]
  /** Their rows and tombstones are deleted; their postings stay until they are dropped. */
  retired?: number[]
  droppedTerms?: Term[]
  droppedSessions?: number[]
}

export type UnusableReason = "version" | "damaged" | "gone"

/** The index must be rebuilt from the archive. */
export class IndexUnusable extends Error {
  readonly reason: UnusableReason

  constructor(reason: UnusableReason, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = "IndexUnusable"
    this.reason = reason
  }
}
