import type { PermissionAnswers, PermissionQuestion } from "./permission.ts"
import type { Machine } from "./platform.ts"

/** Runs sessions of one platform in processes of ours: start, prompt, stream, cancel, permission, resume. */
export interface Driver {
  platform: string
  /** Differences are stated here, never asked by id. */
  can: DriverCan
  /** Ready to take a prompt when it resolves. No model is asked for it. */
  start(options: DriveOptions): Promise<DrivenSession>
  /** Ends the processes that sessions share, if there are any. */
  close(): Promise<void>
}

export interface DriverCan {
  /** Takes the id that we choose for a new session; otherwise it says its own. */
  chooseId: boolean
  resume: boolean
  /** So long after a session was made it must not be resumed: its history would be lost. */
  resumeAfterMs: number
  fork: boolean
  /** Shortens its own history when told to. */
  compact: boolean
  /** Offers rules with a permission request, one of which can be answered with. */
  suggestions: boolean
  /** What was asked for may be allowed with another input than the agent had in mind. */
  updatedInput: boolean
  /** The model is told why something was denied; otherwise only that it was. */
  denyReason: boolean
  /** Takes a file with settings of its own kind. */
  settings: boolean
  /** Says what a turn has used. */
  usage: boolean
  /** Many sessions live in one process. */
  shared: boolean
  /** Each session has our server to itself; otherwise those of one folder share the one that was named last. */
  ownServer: boolean
  /** Says that it is there when it is asked; otherwise one that hangs is not told from one that idles. */
  ping: boolean
}

export interface DriveOptions {
  machine: Machine
  projectDir: string
  session:
    | { kind: "new"; id: string }
    | { kind: "resume"; id: string }
    /** A copy of it, which goes its own way; under the id that we choose where `can.chooseId`. */
    | { kind: "fork"; id: string; as: string }
  permissionMode: string
  skipPermissions: boolean
  instructionsFile: string | null
  settingsFile: string | null
  /** Our own server, so that the agent can ask others in turn. */
  mcp: { command: string; args: string[]; env: Record<string, string> } | null
  /** Where the agent's program is, if it is not to be looked for on the path. */
  program?: string
  /** Asked when the agent wants to do something that needs a person's word. It may take as long as it takes. */
  onPermission(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer>
}

export interface DrivenSession {
  /** The platform's own id of the session. */
  nativeId: string
  pid: number
  /** One at a time: what is sent while a turn runs would be merged with it by most agents. */
  prompt(message: { id: string; text: string }, options: PromptOptions): Promise<TurnEnd>
  /** Ends the turn that runs; its prompt then resolves as cancelled. */
  cancel(): Promise<void>
  compact?(): Promise<TurnEnd>
  /** Resolves when it has answered, which is at once and costs no model; never, if it hangs. */
  ping?(): Promise<void>
  /** Of the process or processes behind it, in bytes. */
  memoryBytes(): Promise<number | undefined>
  /** Resolves when the process is gone, with why. */
  readonly gone: Promise<string>
  /** Waits for it to exit, then ends it; one that hangs is not waited for. */
  close(options?: { isHanging?: boolean }): Promise<void>
}

export interface PromptOptions {
  onEvent(event: DriverEvent): void
}

export type DriverEvent =
  /** A piece of the answer, as it is written. */
  | { kind: "text"; text: string }
  | { kind: "tool"; name: string; state: "started" | "ended"; summary: string }
  | { kind: "compacting" }

export interface TurnEnd {
  status: "done" | "failed" | "cancelled"
  /** The last thing that was said. */
  text: string
  /** Why it failed, in the agent's words. */
  error: string | null
  durationMs: number
  /** Of this turn alone. The input is all that the model read, with what came from a cache. */
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number; costUsd: number | null } | null
}

export interface PermissionRequest {
  tool: string
  /** Whole, as it would be run. */
  input: Record<string, unknown>
  title: string
  /** Rules that would make the same thing allowed from now on; one of them can be chosen. */
  suggestions: { label: string; value: unknown }[]
  /** What it asks to be told, where it is more than a yes or no. */
  questions?: PermissionQuestion[]
}

export type PermissionAnswer =
  /** `always` names one of the suggestions, by its place; `updatedInput` is run instead, where `can.updatedInput`. */
  | { behavior: "allow"; always?: number; updatedInput?: Record<string, unknown>; answers?: PermissionAnswers }
  /** With `interrupt` the turn ends, where the agent can. */
  | { behavior: "deny"; message: string; interrupt?: boolean }
