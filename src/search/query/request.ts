import type { ProjectId, SessionId } from "../../domain/ids.ts"
import type { Metadata } from "../../domain/metadata.ts"
import type { Session } from "../../domain/session.ts"
import type { DocKind } from "../words/document.ts"
import type { Snippet } from "../words/snippet.ts"

/** What is searched for, and where. */
export interface SearchRequest {
  query: string
  limit: number
  /** Only this project; or this one first and the others after it. */
  projectId?: ProjectId
  firstProjectId?: ProjectId
  sessionId?: SessionId
  platform?: string
  gitBranch?: string
  domain?: string
  kinds?: DocKind[]
  sinceMs?: number
  untilMs?: number
  /** Also what the platform took back. */
  superseded?: boolean
  /** Newer ones count for more; otherwise age does not matter. */
  recent?: boolean
  /** An exchange as a whole, or single turns and thoughts. */
  unit?: "exchange" | "turn"
  /** How much of each text is wanted. */
  chars?: { user: number; ai: number; snippet: number }
}

export interface SearchResult {
  hits: SearchHit[]
  /** What a person should know of the answer: cuts, a wider scope, an index that is not complete. */
  notes: string[]
  /** False while the index is still behind the archive. */
  isComplete: boolean
}

export interface SearchHit {
  session: Session
  /** The number of the exchange's first turn; of the thought where it is one. */
  exchange: number
  /** Set where it is a thought. */
  thought?: { number: number; branchId: string | null }
  /** The turn or thought that fits best. */
  seq: number
  kind: DocKind
  atMs: number
  score: number
  snippet: Snippet
  /** What the agent said about the exchange. */
  metadata?: Metadata
  /** What was asked in the exchange, and the answer that fits best, cut to a line or two. Empty for thoughts. */
  user: string
  ai: string
}
