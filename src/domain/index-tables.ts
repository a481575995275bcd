/**
 * The tables that the search engine keeps its postings in. Nothing here knows what a list or a document means; all of it
 * can be made again from the archive.
 */
export interface IndexTables {
  /** Makes the tables where there are none. Throws IndexUnusable when what is there cannot be read. */
  open(): Promise<void>
  /** Deletes everything, whatever state it is in, and opens empty tables. */
  clear(): Promise<void>
  /** Throws IndexUnusable when the tables are no longer those that were opened. */
  check(): Promise<void>
  meta(): Promise<Record<string, string>>
  segments(): Promise<SegmentRow[]>
  tombstones(): Promise<TombstonesRow[]>
  sessions(): Promise<SessionRow[]>
  /** The segments that have lists, whether they are listed or not. */
  segmentsWithPostings(): Promise<number[]>
  termsOf(words: readonly string[]): Promise<Map<string, number>>
  /** Of the words that start with it, in the order of their bytes. */
  termsWithPrefix(prefix: string): Promise<number[]>
  /** Those of them that have these numbers, in any order. */
  wordsWithPrefix(prefix: string, terms: readonly number[]): Promise<Term[]>
  /** In the order of their bytes. */
  termsAfter(word: string, limit: number): Promise<Term[]>
  /** In the order asked for; undefined where there is none. */
  postings(keys: readonly PostingKey[]): Promise<(Uint8Array | undefined)[]>
  /** The next rows of a segment. */
  postingsAfter(segment: number, row: number, limit: number): Promise<{ row: number; bytes: Uint8Array }[]>
  /** Their numbers alone. */
  rowsAfter(segment: number, row: number, limit: number): Promise<number[]>
  /** One short transaction. */
  write(change: IndexChange): Promise<void>
  /** Overwrites what deleted rows left behind. */
  purge(): Promise<void>
  /**
   * Moves what was written from the log into the file, where there is such a thing; unless idle, only from a long log.
   * When idle it also gives free space back, a little at a time: true when there is more.
   */
  checkpoint(isIdle: boolean): Promise<boolean>
  sizeBytes(): Promise<number>
  close(): Promise<void>
}

/** A row of lists, by the number that the engine gave it in a segment. From 1 on, of 31 bits. */
export interface PostingKey {
  segment: number
  row: number
}

export interface SegmentRow {
  segment: number
  size: number
  /** What is known of each document, as the engine packs it. */
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
  /** Unlisted, with their tombstones; their lists stay until they are dropped. */
  retired?: number[]
  /** Rows of one segment, up to and with this one. */
  droppedPostings?: PostingKey
  droppedTerms?: Term[]
  droppedSessions?: number[]
}

export type UnusableReason = "version" | "damaged" | "gone"

/** The index cannot be used as it is, and has to be made again from the archive. */
export class IndexUnusable extends Error {
  readonly reason: UnusableReason

  constructor(reason: UnusableReason, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = "IndexUnusable"
    this.reason = reason
  }
}
