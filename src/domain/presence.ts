import type { SessionId } from "./ids.ts"
import type { LiveAgent } from "./live.ts"
import type { Team } from "./team.ts"

/** A session was given a message, or replied. */
export interface Activity {
  sessionId: SessionId
  isGiven: boolean
  atMs: number
}

/** Who is at the teams' posts. One after the other: hooks as they come, and a look at all that lives every two seconds. */
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
