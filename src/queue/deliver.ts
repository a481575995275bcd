import type { AgentConsole } from "../domain/agent-console.ts"
import type { Delivery } from "../domain/delivery.ts"
import { Failure } from "../domain/failure.ts"
import type { LiveAgent } from "../domain/live.ts"
import { mailText, typedText } from "../domain/mail.ts"
import { messageOf } from "../domain/message.ts"
import { because } from "../domain/reason.ts"
import type { BackgroundHooks } from "./background-hooks.ts"
import type { LineTurns } from "./line-turns.ts"
import type { MessageLeases } from "./message-leases.ts"
import { type PasteRequest, type Paster, whyLater } from "./paste.ts"
import type { ClosedRoute, OpenRoute } from "./select-route.ts"

/** What came of it: settled, put off with nothing done, or done and not yet confirmed. */
export type DeliverResult =
  | { kind: "settled" }
  | ({ kind: "closed" } & Pick<ClosedRoute, "reason" | "until">)
  | { kind: "unconfirmed" }

export interface DeliverDeps {
  leases: MessageLeases
  paster: Paster
  hooks: Pick<BackgroundHooks, "wake">
  lineTurns: Pick<LineTurns, "follow">
  consoles: readonly AgentConsole[]
  /** Whether the agent's process lives and runs below the pane's own. */
  isUnder(pid: number, panePid: number): boolean
  processStart(pid: number): string | undefined
  /** Whether the process still has this session. */
  isStillThere(agent: LiveAgent): Promise<boolean>
}

/** A prompt hook was seen to take 300 ms at the worst; a machine may be busy. */
const CONFIRM_MS = 5_000

/** Goes the one way, after it is written that it is gone. */
export function makeDeliver(deps: DeliverDeps) {
  const { leases, paster, hooks, consoles } = deps

  const byPane = async (
    route: OpenRoute & { kind: "pane" },
    delivery: Delivery,
    signal: AbortSignal,
  ): Promise<DeliverResult> => {
    const can = consoles.find(({ platform }) => platform === route.agent.session.platform)?.can
    const request = pasteRequest(deps, delivery, route.agent, route.pane)
    // Of its own commands an agent says nothing.
    const saysSubmitted = can?.promptHook === true && !request.isCommand
    const isTaken = (withinMs: number) => leases.isConfirmed(delivery, withinMs, signal)
    const result = await paster.submit({ ...request, isStop: route.isStop, ...(saysSubmitted ? { isTaken } : {}) })
    switch (result.kind) {
      case "submitted":
        if (saysSubmitted)
          return (await leases.isConfirmed(delivery, CONFIRM_MS, signal)) ? SETTLED : { kind: "unconfirmed" }
        await leases.settle(delivery, "delivered", because("unacknowledged"))
        return SETTLED
      case "pasted":
        return { kind: "unconfirmed" }
      case "refused":
        await leases.settle(delivery, "failed", because("refused", result.reason))
        return SETTLED
      case "later":
        return { kind: "closed", reason: whyLater(result), until: "idle" }
      case "gone":
        return { kind: "closed", reason: because(result.reason), until: "reachable" }
    }
  }

  const byLine = async (
    route: OpenRoute & { kind: "line" },
    delivery: Delivery,
    signal: AbortSignal,
  ): Promise<DeliverResult> => {
    const { line, isStop } = route
    try {
      if (isStop) await line.interrupt()
      await line.submit({ id: delivery.key, text: typedText(delivery) })
    } catch (error) {
      line.close()
      if (!(error instanceof Failure)) throw error
      return error.code === "agent_refused"
        ? afterRefusal(route, delivery, error.message, signal)
        : { kind: "unconfirmed" }
    }
    await leases.settle(delivery, "delivered")
    deps.lineTurns.follow(delivery, line)
    return SETTLED
  }

  /** What was refused was not taken: another way may be gone. */
  const afterRefusal = async (
    { agent, isStop }: OpenRoute & { kind: "line" },
    delivery: Delivery,
    words: string,
    signal: AbortSignal,
  ): Promise<DeliverResult> => {
    const pane = agent.route?.pane
    if (pane && (await leases.begin(delivery, agent, "pane")))
      return byPane({ kind: "pane", agent, pane, isStop }, delivery, signal)
    await leases.settle(delivery, "failed", because("agent_said", words))
    return SETTLED
  }

  return async (route: OpenRoute, delivery: Delivery, signal: AbortSignal): Promise<DeliverResult> => {
    if (!(await leases.begin(delivery, route.agent, route.kind))) return SETTLED
    if (route.kind === "pane") return byPane(route, delivery, signal)
    if (route.kind === "line") return byLine(route, delivery, signal)
    if (hooks.wake(route.agent.session, mailText(delivery))) return { kind: "unconfirmed" }
    return { kind: "closed", reason: because("nobody_to_wake"), until: "reachable" }
  }
}

const SETTLED = { kind: "settled" } as const

export function pasteRequest(
  { isUnder, processStart, isStillThere }: Pick<DeliverDeps, "isUnder" | "processStart" | "isStillThere">,
  delivery: Delivery,
  agent: LiveAgent,
  pane: PasteRequest["pane"],
): PasteRequest {
  const { session, pid, processStart: start } = agent
  const { isCommand = false, sessionId } = messageOf(delivery)
  const isThere = () => start !== null && processStart(pid) === start && isUnder(pid, pane.panePid)
  return {
    platform: session.platform,
    pane,
    text: typedText(delivery),
    isCommand,
    // A team's message is also for the session that its process continues.
    isAgentThere: sessionId === undefined ? isThere : async () => isThere() && (await isStillThere(agent)),
  }
}
