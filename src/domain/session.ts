import type { LineageKind } from "./capture.ts"
import type { ProjectId, SessionId } from "./ids.ts"
import type { Origin } from "./origin.ts"

/** One conversation, known by (platform, native id). */
export interface Session {
  id: SessionId
  platform: string
  nativeId: string
  projectId: ProjectId | null
  rootUri: string | null
  title: string
  tags: string[]
  /** The field that the reasoning is about, as the agent names it. */
  domain: string | null
  pinnedAtMs: number | null
  archivedAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
  thoughtCount: number
  branchCount: number
  turnCount: number
  promptCount: number
  model: string | null
  gitBranch: string | null
  agentVersion: string | null
  /** The folder in which the agent worked, as it named it. */
  projectPath: string | null
  isSubagent: boolean
  origin: Origin
}

/** What a platform says of its own session. */
export interface CapturedSession {
  projectId?: ProjectId
  projectPath?: string
  /** A title of lower rank never replaces one of higher; among equals the first or the last one stands. */
  title?: { text: string; rank: number; firstStands: boolean }
  model?: string
  gitBranch?: string
  agentVersion?: string
  startedAtMs?: number
  isSubagent?: boolean
}

export interface SessionEdge {
  kind: LineageKind
  parentPlatform: string
  parentNativeId: string
  atMs: number
}

/** The platform of sessions that an agent opens here on purpose, by `init` or `thought`. */
export const REASONING_PLATFORM = "throughline"

export interface NewSession {
  id: SessionId
  platform: string
  nativeId: string
  projectId: ProjectId | null
  title: string
  tags: string[]
  domain?: string | undefined
  key: string | null
  createdAtMs: number
  /** Absent: an agent's own. */
  origin?: Origin
}

/** How many sessions one agent had on one branch of one project. */
export interface SessionTally {
  rootUri: string | null
  gitBranch: string | null
  platform: string
  sessions: number
  lastAtMs: number
}

export interface SessionFilter {
  projectId?: ProjectId
  domain?: string
  archived?: boolean
  updatedSinceMs?: number
  platform?: string
  subagents?: boolean
  /** False leaves out captured sessions in which nothing was said. */
  empty?: boolean
  /** True leaves out what a repository brought and nobody vouches for. */
  trusted?: true
  limit?: number
}
