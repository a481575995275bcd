import type { AgentConsole } from "../domain/agent-console.ts"
import type { Delivery } from "../domain/delivery.ts"
import type { HookEvent, SentHook } from "../domain/hook.ts"
import { isMail, mailText } from "../domain/mail.ts"
import { addressOf, comesBefore } from "../domain/message.ts"
import type { Store } from "../domain/store.ts"
import { type Roster, teamsOf } from "../domain/team.ts"
import { type Clock, sleep } from "../lib/clock.ts"
import type { Dispatcher } from "./dispatcher.ts"
import type { MessageLeases } from "./message-leases.ts"
import { lanesTo } from "./precedence.ts"
import { isUnreachable, type ResolveTarget } from "./resolve-target.ts"
import type { LaneBackoff } from "./select-route.ts"

export interface TurnDeps {
  store: Store
  clock: Clock
  roster: Roster
  resolveTarget: ResolveTarget
  leases: MessageLeases
  backoff: LaneBackoff
  consoles: readonly AgentConsole[]
  dispatcher: Pick<Dispatcher, "watch">
}

/** The agent goes on without asking after nine; one less leaves room for somebody else's hook. */
const MOST_IN_A_ROW = 8
/** What is longer is not handed to the model whole. */
const MAX_CHARS = 9_000
/** The hook does not wait for ever; what it did not hear must not count as said. */
const IN_TIME_MS = 1_000
const LOOKING_MS = 200

/** Mail that a Stop hook adds to a turn about to end, so that the turn continues: one message at a time. */
export function makeTurnContext(deps: TurnDeps) {
  const { store, clock, roster, resolveTarget, leases, backoff, consoles, dispatcher } = deps
  const inARow = new Map<string, number>()

  /** The dispatcher may be looking at it this very moment, and will give it back: the agent is busy still. */
  const headOf = async (lane: string): Promise<Delivery | undefined> => {
    for (const untilMs = clock.nowMs() + LOOKING_MS; backoff.causeOf(lane) === "turn"; await sleep(10)) {
      const [delivery] = await leases.take({ only: [lane] }, 1)
      if (delivery || clock.nowMs() > untilMs) return delivery
    }
    return undefined
  }

  const take = async (lane: string, nativeId: string): Promise<string | undefined> => {
    const delivery = await headOf(lane)
    if (!delivery) return undefined
    const agent = await resolveTarget(addressOf(delivery))
    const text = mailText(delivery)
    const isFit = isMail(delivery) && text.length <= MAX_CHARS
    const isIts = !isUnreachable(agent) && agent.session.nativeId === nativeId
    if (!isFit || !isIts || agent.route?.pane || !(await leases.begin(delivery, agent, "turn"))) {
      await leases.giveBack(delivery)
      return undefined
    }
    dispatcher.watch(delivery)
    return text
  }

  return async (sent: SentHook, event: HookEvent): Promise<string | undefined> => {
    const { sessionId: nativeId, details } = event
    if (event.name !== "Stop" || nativeId === undefined || details.agent_id !== undefined) return undefined
    if (!consoles.find(({ platform }) => platform === sent.platform)?.can.turn) return undefined
    const count = details.stop_hook_active === "true" ? (inARow.get(nativeId) ?? 0) : 0
    inARow.delete(nativeId)
    const session = await store.sessions.byNative(sent.platform, nativeId)
    if (!session) return undefined
    if (count >= MOST_IN_A_ROW || clock.nowMs() - sent.atMs > IN_TIME_MS) return undefined
    const teams = teamsOf(roster, session, event.cwd).map(({ name }) => name)
    const waiting = (await store.deliveries.heads(lanesTo({ session, teams }))).sort((a, b) =>
      comesBefore(a, b) ? -1 : 1,
    )
    for (const { lane } of waiting) {
      const text = await take(lane, nativeId)
      if (text === undefined) continue
      inARow.set(nativeId, count + 1)
      return text
    }
    return undefined
  }
}
