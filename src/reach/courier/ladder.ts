import type { AgentConsole } from "../../domain/agent-console.ts"
import type { AgentLine, OpenLine } from "../../domain/agent-line.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { messageOf } from "../../domain/message.ts"
import type { PaneAddress } from "../../domain/panes.ts"
import type { Machine } from "../../domain/platform.ts"
import type { Team } from "../../domain/team.ts"
import { isMail, mailText } from "../messages/mail.ts"
import type { LiveAgent, LiveSessions } from "../watching/live.ts"
import type { OpenTurns } from "./open-turns.ts"
import type { Waiters } from "./waiters.ts"

/** Which one way is open for a message now. Nothing is done by asking. */
export interface Ladder {
  find(team: Team, delivery: Delivery): Promise<Way | Closed>
}

export type Way =
  | { rung: "pane"; agent: LiveAgent; pane: PaneAddress; isStop: boolean }
  | { rung: "line"; agent: LiveAgent; line: OpenLine; isStop: boolean }
  | { rung: "wake"; agent: LiveAgent }

export interface Closed {
  rung: undefined
  /** For people: why it waits. */
  reason: string
  /** What may open it: the end of a turn, or that somebody comes at all. */
  until: "turn" | "idle" | "somebody"
}

export interface LadderDeps {
  clock: Clock
  live: LiveSessions
  lines: readonly AgentLine[]
  consoles: readonly AgentConsole[]
  machine: Machine
  turns: OpenTurns
  waiters: Pick<Waiters, "isWaiting">
}

/** So long after a prompt the agent's registry may still say what was before it. */
const REGISTRY_LAG_MS = 3_000
/** Longer texts than this were seen to be cut on the way through a waiter. */
export const MAX_WAKE_CHARS = 20_000

export function makeLadder(deps: LadderDeps): Ladder {
  const { clock, live, lines, consoles, machine, turns, waiters } = deps

  const isBusy = ({ session, status, statusAtMs }: LiveAgent) => {
    if (status !== "idle") return true
    const sinceMs = turns.since(session.id)
    if (sinceMs === undefined || clock.nowMs() - sinceMs > REGISTRY_LAG_MS) return false
    return statusAtMs === null || statusAtMs <= sinceMs
  }

  const byLine = async (team: Team, agent: LiveAgent): Promise<OpenLine | undefined> => {
    const { platform, nativeId } = agent.session
    const line = lines.find((one) => one.platform === platform)
    return line?.open(machine, { nativeId, projectDir: team.projectDir })
  }

  return {
    async find(team, delivery) {
      const { priority } = messageOf(delivery)
      const [agent] = await live.ofTeam(team)
      if (!agent) return closed(`no session of ${team.name} is live`, "somebody")
      if (agent.status === "waiting") {
        const what = agent.waitingFor ?? "an answer"
        return closed(`the agent waits for its user (${what})`, "idle")
      }
      const can = consoles.find(({ platform }) => platform === agent.session.platform)?.can
      const isUrgent = priority !== "normal"
      const isStop = priority === "stop" && isBusy(agent)

      const line = await byLine(team, agent)
      // Where nobody has the session open it would wait in the platform's queue, where it cannot be taken back.
      if (line && !line.isLive) line.close()
      else if (line) {
        if (line.status === "idle" || (isUrgent && line.status === "busy"))
          return { rung: "line", agent, line, isStop: isStop && line.status === "busy" }
        line.close()
        return closed(line.status === "busy" ? BUSY : "the agent waits for its user", "idle")
      }
      const pane = agent.route?.pane
      if (pane) return isBusy(agent) && !isUrgent ? closed(BUSY, "idle") : { rung: "pane", agent, pane, isStop }

      if (!isMail(delivery)) return closed("the owner's own words need a terminal in tmux to be typed into", "somebody")
      if (isBusy(agent))
        return closed("the agent is busy; it is told at the end of its turn", can?.turn ? "turn" : "idle")
      const isShort = mailText(delivery).length <= MAX_WAKE_CHARS
      if (can?.wake && isShort && waiters.isWaiting(agent.session)) return { rung: "wake", agent }
      return closed("there is no way in now; the agent can fetch it with pull_updates", "somebody")
    },
  }
}

const BUSY = "the agent is busy"
const closed = (reason: string, until: Closed["until"]): Closed => ({ rung: undefined, reason, until })
