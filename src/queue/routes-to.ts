import type { AgentLine } from "../domain/agent-line.ts"
import type { LiveAgent } from "../domain/live.ts"
import type { Panes } from "../domain/panes.ts"
import type { Machine } from "../domain/platform.ts"
import { within } from "../lib/clock.ts"
import type { BackgroundHooks } from "./background-hooks.ts"

/** Where an agent can be reached at this moment. */
export interface RoutesTo {
  /** `%n`, where the agent still runs in it. */
  pane?: string
  /** By the agent's own protocol. */
  direct?: true
  /** A hook of it waits in the background, by which mail can wake it. */
  wakes?: true
}

export interface RoutesToDeps {
  panes: Pick<Panes, "identify">
  lines: readonly AgentLine[]
  machine: Machine
  hooks: Pick<BackgroundHooks, "isWaiting">
  isUnder(pid: number, panePid: number): boolean
}

/** A tmux server that hangs must not keep the list waiting. */
const IDENTIFY_MS = 1_000

/** Asked of tmux and of the agent: what was kept of it may be of a pane that is closed, and its number another's. */
export function makeRoutesTo({ panes, lines, machine, hooks, isUnder }: RoutesToDeps) {
  const paneOf = async ({ pid, route }: LiveAgent): Promise<string | undefined> => {
    const kept = route?.pane
    if (!kept) return undefined
    const now = await within(IDENTIFY_MS, panes.identify(kept)).catch(() => undefined)
    const isSame =
      now?.serverPid === kept.serverPid && now.serverStart === kept.serverStart && now.panePid === kept.panePid
    return isSame && isUnder(pid, kept.panePid) ? kept.pane : undefined
  }
  const isDirect = async ({ session: { platform, nativeId } }: LiveAgent): Promise<boolean> => {
    const line = await lines
      .find((one) => one.platform === platform)
      ?.open(machine, { nativeId })
      .catch(() => undefined)
    line?.close()
    return line?.isLive === true
  }

  return async (agent: LiveAgent): Promise<RoutesTo> => {
    const [pane, direct] = await Promise.all([paneOf(agent), isDirect(agent)])
    return {
      ...(pane !== undefined && { pane }),
      ...(direct && { direct }),
      ...(hooks.isWaiting(agent.session) && { wakes: true }),
    }
  }
}
