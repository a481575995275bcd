import type { Delivery } from "../../domain/delivery.ts"
import type { NewJournalEntry } from "../../domain/journal.ts"
import { addressOf, messageOf } from "../../domain/message.ts"
import { because } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import { moveOn } from "../../lib/transitions.ts"

/** A message, and what is behind it, waits for something else than before. */
export function waitingEntry(delivery: Pick<Delivery, "key" | "payload">, atMs: number): NewJournalEntry {
  const { sessionId = null } = addressOf(delivery)
  return { kind: "message.waiting", sessionId, atMs, data: { id: delivery.key } }
}

/** Its session has ended. A command may have been the one that ended it: /clear does. */
export function endedOver(tx: Store, delivery: Delivery, nowMs: number): Promise<void> {
  const isCommand = messageOf(delivery).isCommand === true
  if (isCommand) return moveOn(tx, delivery, ["done"], nowMs, because("ended_since"))
  return moveOn(tx, delivery, ["failed"], nowMs, because("session_closed_early"))
}
