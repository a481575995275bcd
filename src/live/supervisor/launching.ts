import type { AgentConsole } from "../../domain/agent-console.ts"
import type { PaneAddress, Panes } from "../../domain/panes.ts"
import type { Team } from "../../domain/team.ts"
import { type Clock, sleep } from "../../lib/clock.ts"

export interface LaunchDeps {
  clock: Clock
  panes: Panes
  consoles: readonly AgentConsole[]
  /** Of our own tmux server. */
  socket: string
  /** How long to wait for the agent's first screen. */
  settleMs?: number
}

const SETTLE_MS = 8_000
export const LOOK_MS = 100

/** Starts agents in tmux sessions of our own, and reads their first screen. */
export function makeLauncher({ clock, panes, consoles, socket, settleMs = SETTLE_MS }: LaunchDeps) {
  /** A question before the first prompt, such as whether to trust the folder; null if there is none. Never answered here. */
  const question = async (terminal: AgentConsole, pane: PaneAddress) => {
    const look = await panes.look(pane)
    const screen = look && terminal.screen(look)
    return screen?.kind === "dialog" ? screen.what : screen?.kind === "input" ? null : undefined
  }
  return {
    question,
    consoleOf: (platform: string) => consoles.find((one) => one.platform === platform),
    attach: (name: string) => `tmux -S ${socket} attach -t ${name}`,
    paneOf: (name: string) => panes.find({ socket, name }),
    async launch(terminal: AgentConsole, name: string, team: Team, resume: string | undefined) {
      const { argv, env } = terminal.launch({
        team,
        ...(resume === undefined ? {} : { resume }),
        ...(team.program === null ? {} : { program: team.program }),
      })
      return panes.start({ socket, name, cwd: team.projectDir, argv, env })
    },
    /** Waits until the agent accepts a prompt or asks a question, and returns that. `onEnd` throws. */
    async settled(terminal: AgentConsole, name: string, pane: PaneAddress, onEnd: () => never) {
      for (const untilMs = clock.nowMs() + settleMs; clock.nowMs() < untilMs; await sleep(LOOK_MS)) {
        const asked = await question(terminal, pane)
        if (asked !== undefined) return asked ?? undefined
        if (!(await panes.find({ socket, name }))) onEnd()
      }
      return undefined
    },
  }
}
