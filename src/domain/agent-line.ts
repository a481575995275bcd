import type { PermissionAnswer, PermissionRequest } from "./driver.ts"
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
  /** Resolves when the agent has accepted it; throws a Failure otherwise. */
  submit(message: { id: string; text: string }): Promise<void>
  /** What became of a message that was submitted since then, as the platform's own records say. */
  stateOf(messageId: string, sinceMs: number): Promise<TakenState>
  /** Resolves when the session's status changes, and at the latest after this time or with the signal. */
  changed(withinMs: number, signal: AbortSignal): Promise<void>
  /** Ends the turn that runs. */
  interrupt(): Promise<void>
  close(): void
}

/** What a platform's live sessions ask of a person, heard and answered by a way of its own, beside their terminals. */
export interface LineAsking {
  platform: string
  /**
   * Until the signal. Each question is handed over once while it is open, with a signal that says when it is over, for the
   * reason ANSWERED if somebody else was first. One that is not answered is left to the terminal.
   */
  follow(
    machine: Machine,
    heard: {
      asked(question: LineQuestion, over: AbortSignal): Promise<LineAnswer | undefined>
      /** Told when everything that was open at the beginning was handed over: the keys of all that is open now. */
      caughtUp(keys: string[]): void
    },
    signal: AbortSignal,
  ): Promise<void>
}

export const ANSWERED = "answered elsewhere"

export interface LineQuestion {
  nativeId: string
  cwd: string | null
  /** The platform's own of the question: it is the same after a restart of the daemon. */
  key: string
  request: PermissionRequest
}

export interface LineAnswer {
  answer: PermissionAnswer
  /** To be called when it was handed to the platform, and not before. */
  taken(): Promise<void>
}

/** `none` was never taken, `waiting` is in the platform's queue; the others tell of the turn that it began. */
export interface TakenState {
  kind: "none" | "waiting" | "running" | "completed" | "interrupted" | "failed"
  /** Why it failed, in the platform's words. */
  why?: string
}
