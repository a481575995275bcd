import type { AgentLine } from "../domain/agent-line.ts"
import { Failure } from "../domain/failure.ts"
import type { SessionId } from "../domain/ids.ts"
import type { LiveAgent } from "../domain/live.ts"
import type { InterruptAnswer } from "../domain/messages.ts"
import type { Machine } from "../domain/platform.ts"
import { because, type Reason } from "../domain/reason.ts"
import { type Clock, sleep } from "../lib/clock.ts"
import type { OpenTurns } from "./evidence.ts"
import { type InterruptRequest, type Paster, whyLater } from "./paste.ts"
import { isUnreachable, type ResolveTarget } from "./resolve-target.ts"

export interface InterruptDeps {
  clock: Clock
  resolveTarget: ResolveTarget
  lines: readonly AgentLine[]
  machine: Machine
  turns: OpenTurns
  paster: Pick<Paster, "interrupt">
  isAgentThere(agent: LiveAgent, pane: InterruptRequest["pane"]): Promise<boolean>
}

/** An agent was seen to be idle again within 200 ms of Escape; a machine may be busy. */
const OVER_MS = 5_000
const LOOK_MS = 50
/** So long a turn that has just begun may not be known of: its hook is on its way, and the registry is behind. */
const BEGUN_MS = 1_000

/** Ends the turn that a session is in, and says whether it has ended. A question that it asks is not answered by it. */
export function makeInterrupt({ clock, resolveTarget, lines, machine, turns, paster, isAgentThere }: InterruptDeps) {
  /** Undefined when this way is not open. */
  const byLine = async ({ session }: LiveAgent): Promise<InterruptAnswer | undefined> => {
    const line = await lines.find(({ platform }) => platform === session.platform)?.open(machine, session)
    if (!line) return undefined
    try {
      if (!line.isLive) return undefined
      if (line.status !== "busy") return no(line.status === "idle" ? IDLE : WAITS)
      await line.interrupt()
      for (const untilMs = clock.nowMs() + OVER_MS; line.status === "busy"; )
        if (clock.nowMs() > untilMs) return no(STILL)
        else await line.changed(LOOK_MS, new AbortController().signal)
      return { interrupted: true, way: "line" }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return no(because("agent_said", error.message))
    } finally {
      line.close()
    }
  }

  const byPane = async (agent: LiveAgent, sessionId: SessionId): Promise<InterruptAnswer> => {
    const pane = agent.route?.pane
    if (!pane) return no(because("no_escape"))
    if (agent.isShown === false) return no(because("not_shown"))
    for (const untilMs = clock.nowMs() + BEGUN_MS; ; await sleep(LOOK_MS)) {
      const now = await resolveTarget({ sessionId })
      if (isUnreachable(now)) return no(now.unreachable)
      if (now.status === "waiting") return no(WAITS)
      if (turns.isBusy(now, clock.nowMs())) break
      if (clock.nowMs() > untilMs) return no(IDLE)
    }
    const { platform } = agent.session
    const result = await paster.interrupt({ platform, pane, isAgentThere: () => isAgentThere(agent, pane) })
    if (result.kind === "later") return no(whyLater(result))
    if (result.kind === "refused") return no(because("refused", result.reason))
    if (result.kind === "gone") return no(because(result.reason))
    for (const untilMs = clock.nowMs() + OVER_MS; clock.nowMs() < untilMs; await sleep(LOOK_MS)) {
      const now = await resolveTarget({ sessionId })
      if (isUnreachable(now) || !turns.isBusy(now, clock.nowMs())) return { interrupted: true, way: "pane" }
    }
    return no(STILL)
  }

  return async (sessionId: SessionId): Promise<InterruptAnswer> => {
    const agent = await resolveTarget({ sessionId })
    if (isUnreachable(agent)) return no(agent.unreachable)
    // Escape would be an answer to it.
    if (agent.status === "waiting") return no(because("agent_waits", agent.waitingFor ?? "an answer"))
    return (await byLine(agent)) ?? byPane(agent, sessionId)
  }
}

const IDLE = because("agent_idle")
const WAITS = because("agent_waits_for_user")
const STILL = because("still_busy")
const no = ({ words }: Reason): InterruptAnswer => ({ interrupted: false, reason: words })
