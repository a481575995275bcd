import type { SessionId } from "./ids.ts"
import type { PaneAddress } from "./panes.ts"
import type { Team } from "./team.ts"

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

export type Stranger = LiveSession & { cwd: string }

/** A kept session and the process that has it. */
export interface LiveAgent {
  session: { id: SessionId; platform: string; nativeId: string }
  /** Where it is reached, as its hooks told; undefined until one was heard. */
  route: Route | undefined
  /** `gone` when it was reached before and its process is no more, or has another session now. */
  status: LiveStatus | "gone"
  /** In the platform's words, while it waits. */
  waitingFor: string | null
  statusAtMs: number | null
  pid: number
  processStart: string | null
  /** Where it runs, as the registry or its own records say. */
  dir: string | null
  /** Print mode, a program's own, or in the background. */
  isUnattended: boolean
  /** Set where one process runs several sessions: whether a terminal is known to show this one. */
  isShown: boolean | undefined
  /** Of which it is, by name. */
  teams: readonly string[]
}

/** Which sessions are live now. Never call it in a transaction: it reads the store outside of one. */
export interface LiveSessions {
  /** Running sessions, the team's current one first. Unattended ones only if there is no other. */
  ofTeam(team: Team): Promise<LiveAgent[]>
  /** With `isFresh`, as the registries are this very moment. */
  ofSession(sessionId: SessionId, options?: { isFresh?: boolean }): Promise<LiveAgent | undefined>
  all(): Promise<LiveAgent[]>
  /** Of teams' projects, listed by their agents' registries, and not known here: they have said nothing yet. */
  strangers(): Promise<Stranger[]>
}

/** Where a session can be reached: the process that has it, and the pane that the process runs in. */
export interface Route {
  sessionId: SessionId
  platform: string
  nativeId: string
  host: string
  pid: number
  processStart: string
  pane: PaneAddress | null
  seenAtMs: number
}
