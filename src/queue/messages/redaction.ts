import type { JournalConsumer } from "../../domain/journal.ts"
import { wordsIn } from "../../domain/message.ts"
import { NOTICE_CHANNEL } from "../../domain/pair.ts"

/** A message is kept as it was sent until nobody needs it that way any more; from then on without the secrets in it. */
export function messageRedaction({ redact }: { redact(text: string): string }): JournalConsumer {
  return {
    name: "reach.redaction",
    kinds: [...OVER, DELIVERED],
    async after(entries, store) {
      for (const { kind, data } of entries) {
        if (!(OVER.has(kind) || kind === DELIVERED) || typeof data.id !== "string") continue
        const delivery = await store.deliveries.byKey(data.id)
        // A delivered notice gets no further events.
        if (!delivery || (kind === DELIVERED && delivery.channel !== NOTICE_CHANNEL)) continue
        if (wordsIn.misfit(delivery) !== undefined) continue
        const before = wordsIn(delivery).text
        const text = redact(before)
        if (text !== before) await store.deliveries.rewrite(delivery.seq, { ...delivery.payload, text })
      }
    },
  }
}

const DELIVERED = "message.delivered"
const OVER = new Set(["message.done", "message.failed", "message.cancelled", "message.expired"])
