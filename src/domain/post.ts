import type { SessionId } from "./ids.ts"

/** A team's post: which session of it was there last, and whether it is there still. */
export interface Post {
  team: string
  host: string
  sessionId: SessionId | null
  nativeId: string | null
  pid: number
  processStart: string | null
  sinceMs: number
  /** When its process was found gone, or said that it ends. */
  goneAtMs: number | null
  /** How it went: what the agent said, or `killed`. */
  cause: string | null
  /** Whether somebody was told that it is gone; what comes next is then no second restart. */
  isTold: boolean
  /** A person wants a session to be there: it is started again when it dies. */
  isKept: boolean
}
