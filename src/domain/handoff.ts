import type { Machine } from "./platform.ts"

/** An agent that can continue another agent's conversation. */
export type HandoffTarget = SessionWriter | PromptTaker

/** The agent opens sessions that it did not write itself. */
export interface SessionWriter {
  platform: string
  /** The file that gives it the conversation as a session. Writes nothing. */
  session(handoff: Handoff, machine: Machine): HandoffFile
}

/** The agent can only be given a first prompt. */
export interface PromptTaker {
  platform: string
  /** The command that starts it; the first prompt follows. */
  begin: readonly string[]
}

export interface Handoff {
  /** For the new session; a UUID that sorts by time. */
  id: string
  from: { platform: string; nativeId: string }
  title: string
  cwd: string
  gitBranch: string | null
  /** The newest version of the agent seen here. */
  agentVersion: string | null
  atMs: number
  /** Oldest first, all from before the handoff. */
  messages: HandoffMessage[]
}

export interface HandoffMessage {
  by: "person" | "agent"
  text: string
  atMs: number
  /** From a file in a repository, which anybody may have written. */
  isUntrusted?: boolean
}

export interface HandoffFile {
  nativeId: string
  path: string
  content: string
}
