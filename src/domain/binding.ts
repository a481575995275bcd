import type { SessionId } from "./ids.ts"

/** What a caller chose last: survives its connection and the daemon. */
export interface Bindings {
  get(callerKey: string): Promise<Binding | undefined>
  /** The callers that chose the session last. */
  holders(sessionId: SessionId): Promise<string[]>
  set(callerKey: string, change: Partial<Binding>, nowMs: number): Promise<void>
}

export interface Binding {
  rootUri: string | null
  sessionId: SessionId | null
  /** The caller began the session or wrote into it, and has not only read it. */
  isOwn: boolean
}
