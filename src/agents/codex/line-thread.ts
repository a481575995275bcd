import { Failure } from "../../domain/failure.ts"
import type { LiveStatus } from "../../domain/live.ts"
import type { CodexServer } from "./line-server.ts"

/** A conversation in Codex's app-server; only the fields used here. */
export interface Thread {
  id: string
  cwd: string
  status: ThreadStatus
  /** In seconds. */
  createdAt: number
  /** Not stored: made for an internal task such as a title. */
  ephemeral: boolean
  /** Of a sub-agent. */
  parentThreadId: string | null
}

export type ThreadStatus =
  | { type: "notLoaded" | "idle" | "systemError" }
  | { type: "active"; activeFlags: ("waitingOnApproval" | "waitingOnUserInput")[] }

export function statusOf(status: ThreadStatus): LiveStatus {
  if (status.type !== "active") return "idle"
  return status.activeFlags.length > 0 ? "waiting" : "busy"
}

/** Undefined if the thread was closed since it was listed, or cannot be read. */
export async function readThread(server: CodexServer, threadId: string): Promise<Thread | undefined> {
  try {
    return (await server.ask<{ thread: Thread }>("thread/read", { threadId })).thread
  } catch (error) {
    if (error instanceof Failure && error.code === "agent_refused") return undefined
    throw error
  }
}

/** A Failure means that the server refused, has gone or is too old. */
export function unlessBug(error: unknown): void {
  if (!(error instanceof Failure)) throw error
}
