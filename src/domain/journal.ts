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

/** Reads the journal from its own saved number. It may be handed an entry twice, and must then change nothing. */
export interface Follower {
  name: string
  after(entries: JournalEntry[], signal: AbortSignal): Promise<void>
}
