import type { DeliveryState } from "../../domain/delivery.ts"
import type { JournalConsumer } from "../../domain/journal.ts"
import { AGENT_CHANNEL, messageOf } from "../../domain/message.ts"
import { receiptLane } from "../../domain/outgoing.ts"
import type { Clock } from "../../lib/clock.ts"
import { toShow } from "../to-show.ts"
import { makeWaitNotices } from "./wait-notices.ts"

/** Queued, delivered, or failed. What the agent does with it is shown in the topic. */
const SHOWN: ReadonlySet<DeliveryState> = new Set([
  "queued",
  "delivered",
  "failed",
  "expired",
  "uncertain",
  "cancelled",
])

/** Shows the state of a message on it, and explains long waits. */
export function makeReceipts({ channel, clock }: { channel: string; clock: Clock }): JournalConsumer {
  const notices = makeWaitNotices({ channel, clock })
  return {
    name: "reach.receipts",
    kinds: ["message."],
    async after(entries, store) {
      for (const entry of entries) {
        const { kind, data } = entry
        const state = STATE.exec(kind)?.[1] as DeliveryState | "waiting" | undefined
        if (state === undefined || typeof data.id !== "string") continue
        if (state !== "waiting" && !SHOWN.has(state)) continue
        const delivery = await store.deliveries.byKey(data.id)
        if (delivery?.channel !== AGENT_CHANNEL) continue
        const { origin } = messageOf(delivery)
        const isOurs = origin?.channel === channel
        // A message from elsewhere may hold up ours behind it.
        const notice = isOurs || state === "waiting" ? await notices.hear(entry, delivery, store) : undefined
        if (!isOurs || state === "waiting") continue
        const { chatId, threadId, messageId } = origin
        const isTold = state === "queued" || state === "delivered" || notice !== undefined
        const why = isTold ? null : String(data.reason ?? state)
        const receipt = { kind: "receipt" as const, chatId, threadId, messageId, state, why }
        const row = toShow(`${channel}:receipt:${data.id}:${state}`, receiptLane(chatId), channel, receipt)
        await store.deliveries.enqueue(row, clock.nowMs())
      }
    },
  }
}

const STATE = /^message\.(\w+)$/
