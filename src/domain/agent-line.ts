import type { LiveStatus } from "./live.ts"
import type { Machine } from "./platform.ts"

/** A way into a session that the platform itself offers: no screen, the exact text, an answer. */
export interface AgentLine {
  platform: string
  /** Undefined when this way is not open for the session now; nothing was done then. */
  open(machine: Machine, session: { nativeId: string }): Promise<OpenLine | undefined>
}

export interface OpenLine {
  readonly status: LiveStatus
  /** False when nobody has the session open: what is submitted waits in the platform's own queue until somebody has. */
  readonly isLive: boolean
  /** Resolves when the platform has taken it for good. Throws a Failure when it has not. */
  submit(message: { id: string; text: string }): Promise<void>
  /** What became of a message that was submitted since then, as the platform's own records say. */
  stateOf(messageId: string, sinceMs: number): Promise<TakenState>
  /** Resolves when the session's status changes, and at the latest after this time or with the signal. */
  changed(withinMs: number, signal: AbortSignal): Promise<void>
  /** Ends the turn that runs. */
  interrupt(): Promise<void>
  close(): void
}

/** `none` was never taken, `waiting` is in the platform's queue; the others tell of the turn that it began. */
export interface TakenState {
  kind: "none" | "waiting" | "running" | "completed" | "interrupted" | "failed"
  /** Why it failed, in the platform's words. */
  why?: string
}
