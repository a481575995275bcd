import type { SessionId } from "./ids.ts"
import type { LiveAgent } from "./live.ts"
import type { Team } from "./team.ts"

/** A team's current session: the last one seen, and whether it still runs. Stored in the table `posts`. */
export interface Presence {
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
  /** A person asked for a running session: the supervisor restarts it when it dies. */
  isSupervised: boolean
}

/** A session was given a message, or replied. */
export interface Activity {
  sessionId: SessionId
  isGiven: boolean
  atMs: number
}

/** Keeps the teams' presence up to date, serially: from hooks as they arrive, and from a scan of all running sessions every two seconds. */
export interface Watch {
  run(signal: AbortSignal): Promise<void>
  /** Takes the hooks that the journal has and this has not seen. */
  hear(): Promise<void>
  look(): Promise<void>
  /** Reports restarts that these sessions' activity shows, so that they come before the activity itself. */
  reportTakeovers(active: readonly Activity[]): Promise<void>
  /** Takes what the team's session file says now. */
  readName(team: Team): Promise<void>
  /** The team's session is gone for a moment and may come back; until then nothing goes to one that ran beside it. */
  mayReturn(team: string, other: Pick<LiveAgent, "session" | "pid">): Promise<boolean>
}

export interface NamedSession {
  id: string
  writtenAtMs: number
}

/** Agents without hooks: nothing tells of their sessions but the file that their team names. */
export interface Hookless {
  /** Whether the team's agent has to fetch its mail: its team names a session file, and no session of it is seen. */
  fetches(team: Team): Promise<boolean>
  /** What the file says, while it counts for anything. */
  named(team: Team): Promise<NamedSession | undefined>
}
