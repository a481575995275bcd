import type { Machine } from "./platform.ts"

/** An agent that goes on with a conversation which another one began. One adapter, one file, one contract suite. */
export type HandoffTarget = SessionWriter | PromptTaker

/** Reads sessions that it has not written itself. */
export interface SessionWriter {
  platform: string
  /** The file that makes the conversation a session of its own. Writes nothing. */
  session(handoff: Handoff, machine: Machine): HandoffFile
}

/** Can only be told where things stand. */
export interface PromptTaker {
  platform: string
  /** What starts it; the first prompt follows. */
  begin: readonly string[]
}

export interface Handoff {
  /** For the new session; a UUID whose order is that of time. */
  id: string
  from: { platform: string; nativeId: string }
  title: string
  cwd: string
  gitBranch: string | null
  /** The newest version of the agent that was seen here. */
  agentVersion: string | null
  atMs: number
  /** Oldest first, all from before the handoff. */
  messages: HandoffMessage[]
}

export interface HandoffMessage {
  by: "person" | "agent"
  text: string
  atMs: number
  /** From a file in a repository. */
  isUntrusted?: boolean
}

export interface HandoffFile {
  nativeId: string
  path: string
  content: string
}
