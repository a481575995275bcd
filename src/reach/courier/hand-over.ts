import type { AgentConsole } from "../../domain/agent-console.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { Failure } from "../../domain/failure.ts"
import { messageOf } from "../../domain/message.ts"
import { mailText, typedText } from "../messages/mail.ts"
import type { LiveAgent } from "../watching/live.ts"
import type { Desk } from "./desk.ts"
import type { Closed, Way } from "./ladder.ts"
import type { Paster, PasteWish } from "./paste.ts"
import type { Waiters } from "./waiters.ts"

/** What came of it: settled, put off with nothing done, or done and not yet confirmed. */
export type HandedOver = { kind: "settled" } | ({ kind: "closed" } & Omit<Closed, "rung">) | { kind: "unconfirmed" }

export interface HandOverDeps {
  desk: Desk
  paster: Paster
  waiters: Pick<Waiters, "wake">
  consoles: readonly AgentConsole[]
  /** Whether the agent's process lives and runs below the pane's own. */
  isUnder(pid: number, panePid: number): boolean
  processStart(pid: number): string | undefined
}

/** A prompt hook was seen to take 300 ms at the worst; a machine may be busy. */
const CONFIRM_MS = 5_000

/** Goes the one way, after it is written that it is gone. */
export function makeHandOver(deps: HandOverDeps) {
  const { desk, paster, waiters, consoles } = deps

  const byPane = async (way: Way & { rung: "pane" }, delivery: Delivery, signal: AbortSignal): Promise<HandedOver> => {
    const result = await paster.submit({ ...pasteWish(deps, delivery, way.agent, way.pane), isStop: way.isStop })
    switch (result.kind) {
      case "submitted": {
        const can = consoles.find(({ platform }) => platform === way.agent.session.platform)?.can
        if (can?.promptHook)
          return (await desk.isConfirmed(delivery, CONFIRM_MS, signal)) ? SETTLED : { kind: "unconfirmed" }
        await desk.settle(delivery, "delivered", "the agent does not say by itself that it has it")
        return SETTLED
      }
      case "pasted":
        return { kind: "unconfirmed" }
      case "refused":
        await desk.settle(delivery, "failed", result.reason)
        return SETTLED
      case "later":
        return { kind: "closed", reason: result.what, until: "idle" }
      case "gone":
        return { kind: "closed", reason: result.reason, until: "somebody" }
    }
  }

  const byLine = async ({ line, isStop }: Way & { rung: "line" }, delivery: Delivery): Promise<HandedOver> => {
    try {
      if (isStop) await line.interrupt()
      await line.submit({ id: delivery.key, text: typedText(delivery) })
      await desk.settle(delivery, "delivered")
      return SETTLED
    } catch (error) {
      if (!(error instanceof Failure) || !error.kind.retry) throw error
      return { kind: "unconfirmed" }
    } finally {
      line.close()
    }
  }

  return async (way: Way, delivery: Delivery, signal: AbortSignal): Promise<HandedOver> => {
    if (!(await desk.begin(delivery, way.agent, way.rung))) {
      desk.drop(delivery)
      return SETTLED
    }
    if (way.rung === "pane") return byPane(way, delivery, signal)
    if (way.rung === "line") return byLine(way, delivery)
    if (waiters.wake(way.agent.session, mailText(delivery))) return { kind: "unconfirmed" }
    return { kind: "closed", reason: "nobody waits to wake the agent any more", until: "somebody" }
  }
}

const SETTLED = { kind: "settled" } as const

export function pasteWish(
  { isUnder, processStart }: Pick<HandOverDeps, "isUnder" | "processStart">,
  delivery: Delivery,
  { session, pid, processStart: start }: LiveAgent,
  pane: PasteWish["pane"],
): PasteWish {
  return {
    platform: session.platform,
    pane,
    text: typedText(delivery),
    isCommand: messageOf(delivery).isCommand === true,
    isAgentThere: () => start !== null && processStart(pid) === start && isUnder(pid, pane.panePid),
  }
}
