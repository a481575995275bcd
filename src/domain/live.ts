export type LiveStatus = "idle" | "busy" | "waiting"

/** A session whose process runs, or ran: believed only when the process has this start. */
export interface LiveSession {
  platform: string
  nativeId: string
  pid: number
  /** As the system tells it; null where the registry does not say. */
  processStart: string | null
  cwd: string | null
  status: LiveStatus
  /** What it waits for, in the platform's words. */
  waitingFor: string | null
  statusAtMs: number | null
  /** Nobody sits at it: print mode, a program's own, or in the background. */
  isUnattended?: boolean
  /** Set where one process runs several sessions, and terminals only show them: whether one is known to show this. */
  isShown?: boolean
}
