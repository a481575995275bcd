import type { Clock } from "../../domain/clock.ts"
import type { DeliveryState } from "../../domain/delivery.ts"
import type { Follower } from "../../domain/journal.ts"
import { AGENT_CHANNEL, messageOf } from "../../domain/message.ts"
import { receiptLane } from "../../domain/outgoing.ts"
import { toShow } from "./answers.ts"

/** Taken in, with the agent, or why it did not come that far. What the agent makes of it is seen in the topic. */
const SHOWN: ReadonlySet<DeliveryState> = new Set([
  "queued",
  "delivered",
  "failed",
  "expired",
  "uncertain",
  "cancelled",
])

/** Whoever wrote a message sees on it what became of it. */
export function makeReceipts({ channel, clock }: { channel: string; clock: Clock }): Follower {
  return {
    name: "reach.receipts",
    async after(entries, store) {
      for (const { kind, data } of entries) {
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

const STATE = /^message\.(\w+)$/
