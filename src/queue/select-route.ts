/** Which one way is open to the agent for a message now. Nothing is done by asking. */
import type { AgentConsole } from "../domain/agent-console.ts"
import type { AgentLine, OpenLine } from "../domain/agent-line.ts"
import type { Delivery } from "../domain/delivery.ts"
import type { LiveAgent } from "../domain/live.ts"
import { isMail, isTooLongToWake } from "../domain/mail.ts"
import { messageOf } from "../domain/message.ts"
import type { PaneAddress } from "../domain/panes.ts"
import type { Machine } from "../domain/platform.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Backoff, Pauses } from "../lib/backoff.ts"
import type { Clock } from "../lib/clock.ts"
import type { BackgroundHooks } from "./background-hooks.ts"
import type { OpenTurns } from "./evidence.ts"
export interface RouteSelection {
  select(agent: LiveAgent, delivery: Delivery): Promise<OpenRoute | ClosedRoute>
  /** What the sender should know at once: the agent cannot be reached in the way that the message needs. */
  caveat(agent: LiveAgent, delivery: Pick<Delivery, "payload">): Promise<string | undefined>
}

export type OpenRoute =
  | { kind: "pane"; agent: LiveAgent; pane: PaneAddress; isStop: boolean }
  | { kind: "line"; agent: LiveAgent; line: OpenLine; isStop: boolean }
  | { kind: "wake"; agent: LiveAgent }

export interface ClosedRoute {
  kind: "closed"
  /** Why it waits. */
  reason: Reason
  /** What may open it: the end of a turn, or an agent that can be reached. */
  until: "turn" | "idle" | "reachable"
}

/** Lanes whose next message cannot go now. */
export type LaneBackoff = Backoff<ClosedRoute["until"]>

export const PAUSES: Pauses<ClosedRoute["until"]> = {
  turn: { firstMs: 50, mostMs: 1_000 },
  idle: { firstMs: 50, mostMs: 1_000 },
  reachable: { firstMs: 200, mostMs: 3_000 },
}

export interface RouteSelectionDeps {
  clock: Clock
  lines: readonly AgentLine[]
  consoles: readonly AgentConsole[]
  machine: Machine
  turns: OpenTurns
  hooks: Pick<BackgroundHooks, "isWaiting">
  /** The platform as people call it. */
  labelOf(platform: string): string
}

export function makeRouteSelection({
  clock,
  lines,
  consoles,
  machine,
  turns,
  hooks,
  labelOf,
}: RouteSelectionDeps): RouteSelection {
  /** A line says everything to the model: a command of the agent's own is typed. */
  const lineTo = async ({ platform, nativeId }: LiveAgent["session"], isCommand = false) =>
    isCommand ? undefined : lines.find((one) => one.platform === platform)?.open(machine, { nativeId })

  return {
    async select(agent, delivery) {
      const { platform } = agent.session
      const { priority, isCommand, sessionId } = messageOf(delivery)
      if (agent.status === "waiting") return closed(because("agent_waits", agent.waitingFor ?? "an answer"), "idle")
      const can = consoles.find((one) => one.platform === platform)?.can
      const isBusy = turns.isBusy(agent, clock.nowMs())
      const isUrgent = priority !== "normal"
      const isStop = priority === "stop" && isBusy

      const line = await lineTo(agent.session, isCommand)
      // In a session that is not open it would wait in the agent's own queue, where it cannot be cancelled.
      if (line && !line.isLive) line.close()
      else if (line) {
        if (line.status === "idle" || (isUrgent && line.status === "busy"))
          return { kind: "line", agent, line, isStop: priority === "stop" && line.status === "busy" }
        line.close()
        return closed(line.status === "busy" ? BUSY : because("agent_waits_for_user"), "idle")
      }
      const canFetch = sessionId === undefined && isMail(delivery)
      if (!can)
        return closed(because(canFetch ? "cannot_type_but_fetch" : "cannot_type", labelOf(platform)), "reachable")
      const pane = agent.route?.pane
      // Its terminal may show another session of the same process by now.
      if (pane && sessionId !== undefined && agent.isShown === false) return closed(because("not_shown"), "reachable")
      if (pane) return isBusy && !isUrgent ? closed(BUSY, "idle") : { kind: "pane", agent, pane, isStop }

      if (!isMail(delivery)) return closed(because(agent.route ? "not_in_tmux" : "never_heard"), "reachable")
      if (isBusy) return closed(because("agent_busy_until_turn_end"), can.turn ? "turn" : "idle")
      if (can.wake && !isTooLongToWake(delivery) && hooks.isWaiting(agent.session)) return { kind: "wake", agent }
      return closed(because(canFetch ? "no_way_in_but_fetch" : "no_way_in"), "reachable")
    },
    async caveat(agent, delivery) {
      const { priority, isCommand } = messageOf(delivery)
      const isStop = priority === "stop" && turns.isBusy(agent, clock.nowMs())
      if (agent.route?.pane || (isMail(delivery) && !isStop)) return undefined
      const line = await lineTo(agent.session, isCommand)
      line?.close()
      if (line?.isLive) return undefined
      return isMail(delivery) ? CANNOT_STOP : CANNOT_TYPE
    },
  }
}

const CANNOT_STOP =
  "The agent runs outside tmux, so its turn cannot be interrupted: it gets the message when the turn ends."
const CANNOT_TYPE =
  "The agent runs outside tmux, so your words cannot be typed: they wait until it runs in tmux. Messages from others go past them."
const BUSY = because("agent_busy")
const closed = (reason: Reason, until: ClosedRoute["until"]): ClosedRoute => ({ kind: "closed", reason, until })
