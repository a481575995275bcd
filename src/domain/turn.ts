import type { SessionId } from "./ids.ts"
import type { Metadata } from "./metadata.ts"

/** `reasoning` is the model's own; a Thought is recorded on purpose and stored apart. */
export const TURN_KINDS = ["prompt", "reply", "reasoning", "tool_call", "tool_result", "summary", "reset"] as const
export type TurnKind = (typeof TURN_KINDS)[number]

/** What came from a cache stands apart, and is not in `inputTokens`. */
export interface Usage {
  inputTokens?: number
  outputTokens?: number
  cachedTokens?: number
  costUsd?: number
}

/** One thing said or done in a session, as it is kept. */
export interface Turn {
  seq: number
  sessionId: SessionId
  /** The platform's own id, unique within the session. */
  nativeId: string
  kind: TurnKind
  text: string
  atMs: number
  model: string | null
  toolName: string | null
  toolCallId: string | null
  isError: boolean
  /** From a poorer source, kept only while the session has no turn from a fuller one. */
  isFallback: boolean
  usage: Usage | null
  /** What the agent said about the exchange; with its first turn. */
  metadata?: Metadata
  /** Set when the platform took it back: rewound, rewritten, removed. It stays, and can be found. */
  supersededAtMs: number | null
}
