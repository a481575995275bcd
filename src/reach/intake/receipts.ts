import type { Clock } from "../../domain/clock.ts"
import type { DeliveryState } from "../../domain/delivery.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { Follower } from "../../domain/journal.ts"
import { AGENT_CHANNEL, messageOf } from "../../domain/message.ts"
import { receiptLane } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import { toShow } from "./answers.ts"
import { offerResume } from "./offer.ts"

/** Taken in, with the agent, or why it did not come that far. What the agent makes of it is seen in the topic. */
const SHOWN: ReadonlySet<DeliveryState> = new Set([
  "queued",
  "delivered",
  "failed",
  "expired",
  "uncertain",
  "cancelled",
])

/** Whoever wrote a message sees on it what became of it, and that nobody is there to take it. */
export function makeReceipts({ channel, clock }: { channel: string; clock: Clock }): Follower {
  /** It may have been dying when something was written to it. */
  const offer = async (store: Store, sessionId: SessionId) => {
    const topics = await store.topics.ofSession(sessionId)
    const topic = topics.find((one) => one.channel === channel && one.state !== "gone")
    if (topic) await offerResume(store, { topic, sessionId, nowMs: clock.nowMs() })
  }
  return {
    name: "reach.receipts",
    async after(entries, store) {
      for (const { kind, data, sessionId } of entries) {
        if (sessionId !== null && isEnd(kind, data)) await offer(store, sessionId as SessionId)
        const state = STATE.exec(kind)?.[1] as DeliveryState | undefined
        if (state === undefined || !SHOWN.has(state) || typeof data.id !== "string") continue
        const delivery = await store.deliveries.byKey(data.id)
        const origin = delivery?.channel === AGENT_CHANNEL ? messageOf(delivery).origin : undefined
        if (origin?.channel !== channel) continue
        const { chatId, threadId, messageId } = origin
        const why = state === "queued" || state === "delivered" ? null : String(data.reason ?? state)
        const receipt = { kind: "receipt" as const, chatId, threadId, messageId, state, why }
        const row = toShow(channel, `receipt:${data.id}:${state}`, receiptLane(chatId), receipt)
        await store.deliveries.enqueue(row, clock.nowMs())
      }
    },
  }
}

const isEnd = (kind: string, data: Record<string, unknown>) =>
  kind === "session.gone" || (kind === "hook.received" && typeof data.end === "string" && data.agent_id === undefined)

const STATE = /^message\.(\w+)$/
