import type { ProjectId, SessionId } from "./ids.ts"

/** One conversation, known by (platform, native id). */
export interface Session {
  id: SessionId
  platform: string
  nativeId: string
  projectId: ProjectId | null
  rootUri: string | null
  title: string
  tags: string[]
  pinnedAtMs: number | null
  archivedAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
  thoughtCount: number
  branchCount: number
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
  key: string | null
  createdAtMs: number
}

export interface SessionFilter {
  projectId?: ProjectId
  archived?: boolean
  updatedSinceMs?: number
  limit?: number
}
