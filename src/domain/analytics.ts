import type { DeliveryState } from "./delivery.ts"
import type { ProjectId, SessionId } from "./ids.ts"

/** What was said and used, in figures. The part of the Store that counts. */
export interface Analytics {
  /** Sessions in which something may have been said then, those in the archive and of sub-agents too. */
  sessions(query: CountedQuery): Promise<CountedSession[]>
  /**
   * What was said and used in these sessions, by quarters of an hour: a day begins at one of them wherever one lives. A
   * message that a copy took over counts where it was said. A rewound turn is no prompt any more, but was paid for.
   */
  spent(sessionIds: readonly SessionId[], time: { sinceMs: number; untilMs: number }): Promise<Spent[]>
  /** What teams were asked then, oldest first. */
  asks(time: { sinceMs: number; untilMs: number }): Promise<CountedAsk[]>
  /** All sessions that pairs have or had. */
  pairSessions(): Promise<{ pairId: string; platform: string; nativeId: string }[]>
  /** What a session carries since its context was made new: by a reset, or by its beginning. */
  load(sessionId: SessionId): Promise<Load>
}

export interface CountedQuery {
  sinceMs: number
  untilMs: number
  projectId?: ProjectId
  platform?: string
}

export interface CountedSession {
  id: SessionId
  platform: string
  nativeId: string
  title: string
  rootUri: string | null
}

export interface Tokens {
  /** All that the model read, with what came from a cache. */
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  /** Null where nobody told it. */
  costUsd: number | null
}

export interface Spent extends Tokens {
  sessionId: SessionId
  /** When the quarter of an hour began. */
  atMs: number
  prompts: number
  turns: number
  firstAtMs: number
  lastAtMs: number
}

export interface CountedAsk {
  messageId: string
  pairId: string
  state: DeliveryState
  askedAtMs: number
  /** Null while there is no answer, or where it is no longer kept. */
  answer: {
    nativeId: string | null
    atMs: number
    durationMs: number
    inputTokens: number
    outputTokens: number
    costUsd: number | null
  } | null
}

export interface Load {
  prompts: number
  /** What the model read and wrote last; null where it is not told. */
  tokens: number | null
  /** When that was said. */
  atMs: number | null
}

export const QUARTER_MS = 15 * 60 * 1000
