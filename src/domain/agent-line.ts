import type { LiveStatus } from "./live.ts"
import type { Machine } from "./platform.ts"

/** A way into a session that the platform itself offers: no screen, the exact text, an answer. */
export interface AgentLine {
  platform: string
  /** Undefined when this way is not open for the session now; nothing was done then. */
  open(machine: Machine, session: { nativeId: string; projectDir: string }): Promise<OpenLine | undefined>
}

export interface OpenLine {
  readonly status: LiveStatus
  /** False when nobody has the session open: what is submitted waits in the platform's own queue until somebody has. */
  readonly isLive: boolean
  /** Resolves when the platform has taken it for good. Throws a Failure when it has not. */
  submit(message: { id: string; text: string }): Promise<void>
  /** Whether a message of this id was taken before; undefined where the platform cannot tell. */
  has(messageId: string, sinceMs: number): Promise<boolean | undefined>
  /** Ends the turn that runs. */
  interrupt(): Promise<void>
  close(): void
}
