import type { JournalConsumer } from "../../domain/journal.ts"
import { messageOf } from "../../domain/message.ts"
import { NOTICE_CHANNEL } from "../../domain/pair.ts"

/** A message is kept as it was sent until nobody needs it that way any more; from then on without the secrets in it. */
export function messageRedaction({ redact }: { redact(text: string): string }): JournalConsumer {
  return {
    name: "reach.redaction",
    async after(entries, store) {
      for (const { kind, data } of entries) {
        if (!(OVER.has(kind) || kind === HANDED_OVER) || typeof data.id !== "string") continue
        const delivery = await store.deliveries.byKey(data.id)
        // A delivered notice gets no further events.
        if (!delivery || (kind === HANDED_OVER && delivery.channel !== NOTICE_CHANNEL)) continue
        const message = messageOf(delivery)
        const text = redact(message.text)
        if (text !== message.text) await store.deliveries.rewrite(delivery.seq, { ...message, text })
      }
    },
  }
}

const HANDED_OVER = "message.delivered"
const OVER = new Set(["message.done", "message.failed", "message.cancelled", "message.expired"])
