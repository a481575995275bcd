import type { SessionId } from "./ids.ts"
import type { Session } from "./session.ts"

export type Started =
  | {
      isUp: true
      how: "resumed" | "started" | "running"
      /** How one sits down at it. */
      attach?: string
      /** What is asked on its screen; only a person may answer it. */
      asks?: string
    }
  | { isUp: false; why: string }

/** Sessions that a person starts, or lets go on, from somewhere else: each in a session of tmux of its own. */
export interface Resuming {
  resume(sessionId: SessionId): Promise<Started>
  /** A new session of a team, or in a folder. The same name twice is the same session. */
  start(where: { team: string } | { dir: string }, name: string): Promise<Started>
  /** Those that could go on and are wanted, newest first. */
  ended(limit: number, isWanted: (session: Session) => Promise<boolean>): Promise<Session[]>
}
