import type { ProjectId, SessionId } from "./ids.ts"

/** One life of an agent's process on a session: where, since when, and how it ended. Told by the agent's hooks. */
export interface Run {
  sessionId: SessionId
  platform: string
  nativeId: string
  projectId: ProjectId | null
  host: string
  /** 0 where the hook could not tell. */
  pid: number
  /** tmux's socket and pane, when the agent runs in one. */
  pane: string | null
  /** How it began: startup, resume, clear, … Empty when the beginning was not seen. */
  start: string
  startedAtMs: number
  seenAtMs: number
  endedAtMs: number | null
  end: string | null
}
