import type { Store } from "./store.ts"

/** What happened, append-only and numbered. `data` is small: ids and names, never whole texts. */
export interface JournalEntry {
  seq: number
  kind: string
  sessionId: string | null
  projectId: string | null
  atMs: number
  data: Record<string, unknown>
}

export interface NewJournalEntry {
  kind: string
  sessionId?: string | null
  projectId?: string | null
  atMs: number
  data?: Record<string, unknown>
  /** The sender's own key; a second entry under it is not written. */
  key?: string
}

/**
 * Reads the journal from its own saved number. What it writes to `store` commits with that number; it may still be
 * handed an entry twice (a rebuild, two daemons), and must then change nothing.
 */
export interface JournalConsumer {
  name: string
  /** The kinds it reads, all by default. One that ends in a dot stands for every kind that starts with it. */
  kinds?: readonly string[]
  /** Runs before the transaction of `after`, with the same entries: what the program must know before it reports them. */
  before?(entries: JournalEntry[]): Promise<void>
  after(entries: JournalEntry[], store: Store, signal: AbortSignal): Promise<void>
}
