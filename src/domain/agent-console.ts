import type { LiveSession } from "./live.ts"
import type { PaneLook } from "./panes.ts"
import type { Machine } from "./platform.ts"
import type { Team } from "./team.ts"

/** How an agent that runs in a terminal is reached: what its screen shows, and what may be typed there. */
export interface AgentConsole {
  platform: string
  /** Differences are stated here, never asked by id. */
  can: ConsoleCan
  /** What the platform's own registry says of sessions that are live. A dead one may still be listed. */
  live(machine: Machine): Promise<LiveSession[]>
  /**
   * Where a process of its own runs the sessions, it has them open without a terminal as well, and takes messages for them:
   * this closes one. Resolves with why it stays open, if it does.
   */
  closeSession?(machine: Machine, nativeId: string): Promise<string | undefined>
  /** The text as it can be pasted, so that Enter submits it as one prompt and as nothing else; or why it cannot. */
  prepare(text: string, options: { isCommand: boolean }): { text: string } | { refused: string }
  screen(look: Pick<PaneLook, "lines" | "bright" | "cursor">): ConsoleScreen
  /** Whether a draft in the input line is this prepared text and nothing else; long ones are shown as a placeholder. */
  isDraftOf(draft: string, text: string): boolean
  /** How a session of the team is started, or gone on with. */
  launch(options: LaunchOptions): { argv: string[]; env: Record<string, string> }
}

export interface ConsoleCan {
  /** Keeps a registry of live sessions with their state. */
  registry: boolean
  /** A hook may wake an idle session. */
  wake: boolean
  /** The hook at the end of a turn may go on with it. */
  turn: boolean
  /** Says by a hook that a prompt was submitted. */
  promptHook: boolean
  /** Puts a draft aside and brings it back after the next prompt. */
  stash: boolean
}

/** Enter is only ever sent to an input line that holds what was pasted. */
export type ConsoleScreen =
  | { kind: "input"; draft: string; isStashed: boolean }
  /** Enter would answer it. */
  | { kind: "dialog"; what: string }
  | { kind: "unknown" }

export interface LaunchOptions {
  team: Team
  /** The session to go on with. */
  resume?: string
  /** Where the agent's program is, if it is not to be looked for on the path. */
  program?: string
}
