import type { PermissionAnswer, PermissionRequest } from "./driver.ts"
import type { HookEvent } from "./hook.ts"
import type { Machine } from "./platform.ts"

/** What it takes to set up one agent: which of its files name our hooks and our tools, and what its hooks say. */
export interface AgentSetup extends FileSetup {
  /** Forgiving: what it does not know is an event with a name. */
  read(payload: Record<string, unknown>, env: Record<string, string>): HookEvent
  /** Whether nobody sits at the session, where its own records say so and its hooks do not. */
  isUnattended?(event: HookEvent): Promise<boolean>
  /** What its hook prints when a session begins, so that the model reads this text; absent where it cannot be told. */
  startContext?(text: string): string
  /** What its hook prints when a person has sent a prompt, so that the model reads this text beside it. */
  promptContext?(text: string): string
  /** What its hook prints when a turn is about to end, so that the turn continues with this text. */
  turnContext?(text: string): string
  /** How its hooks ask for a person's word; absent where they cannot. */
  asking?: HookAsking
}

export interface HookAsking {
  /** Undefined for what cannot be asked from here. */
  question(payload: Record<string, unknown>): HookQuestion | undefined
  /** What the hook prints. */
  answer(payload: Record<string, unknown>, answer: PermissionAnswer): string
  /** Whether what a later hook said is about the very thing that was asked for: it was decided, and done. */
  isDone(payload: Record<string, unknown>, said: Record<string, unknown>): boolean
}

export interface HookQuestion {
  request: PermissionRequest
  /** Set when it is a sub-agent that asks, as the agent calls it. */
  subagent: string | null
  /** The agent's own dialog is open while the hook waits; otherwise it comes after, and nothing is on the screen until then. */
  isShown: boolean
}

/** Files changed for an agent on request: shown before, undone after. */
export interface FileSetup {
  platform: string
  label: string
  /** Where the agent keeps its settings; it is there once the agent was used on this machine. */
  folder(machine: Machine): string
  /** What is still to be changed; nothing when all of it is there. Reads files, never writes one. */
  plan(machine: Machine, program: Program): FileEdit[]
  /** Takes out what is ours, and leaves everything else as it is. */
  remove(machine: Machine, program: Program): FileEdit[]
  /** What a person must still do. */
  afterwards?: string
  /** True where the agent takes a rule by which it uses our own tools, and no others, without asking. */
  canAllowTools?: true
  /** Undefined when nothing is left for a person to do in the agent itself; otherwise what the state is until then. */
  awaits?(machine: Machine, program: Program): string | undefined
  /** It changes files of a project, which others may share: never without being named. */
  onlyNamed?: true
}

export interface FileEdit {
  path: string
  /** The whole text; null where there is no file. */
  before: string | null
  after: string | null
  /** What it does, in a few words. */
  summary: string
}

/** How agents call the program: by absolute paths, because the Node that a shell finds may be another one. */
export interface Program {
  node: string
  entry: string
  /** The script that agents' hooks run. */
  hook: string
  /** What the program needs in its environment to find the data directory; empty for the default one. */
  env: Record<string, string>
  /** A person wants agents to use our own tools without asking each time. */
  allowTools?: boolean
}
