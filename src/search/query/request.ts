import type { ProjectId, SessionId } from "../../domain/ids.ts"
import type { Metadata } from "../../domain/metadata.ts"
import type { Session } from "../../domain/session.ts"
import type { DocKind } from "../words/document.ts"
import type { Snippet } from "../words/snippet.ts"

export interface SearchRequest {
  query: string
  limit: number
  /** Only this project, or this one first and the others after it. */
  projectId?: ProjectId
  firstProjectId?: ProjectId
  sessionId?: SessionId
  platform?: string
  gitBranch?: string
  domain?: string
  kinds?: DocKind[]
  sinceMs?: number
  untilMs?: number
  /** Include turns that were rewound. */
  superseded?: boolean
  /** Boost newer hits; otherwise age does not matter. */
  recent?: boolean
  /** Whole exchanges, or single turns and thoughts. */
  unit?: "exchange" | "turn"
  /** Maximum length of each text. */
  chars?: { user: number; ai: number; snippet: number }
}

export interface SearchResult {
  hits: SearchHit[]
  /** Notes for people: cuts, a wider scope, an incomplete index. */
  notes: string[]
  /** False while the index is still behind the archive. */
  isComplete: boolean
}

export interface SearchHit {
  session: Session
  /** The number of the exchange's first turn, or of the thought. */
  exchange: number
  thought?: { number: number; branchId: string | null }
  /** The best matching turn or thought. */
  seq: number
  kind: DocKind
  atMs: number
  score: number
  snippet: Snippet
  /** The agent's metadata of the exchange. */
  metadata?: Metadata
  /** The prompt, and the best matching reply, each cut to a line or two. Empty for thoughts. */
  user: string
  ai: string
}
