/** Messages that need a decision: a person resends or dismisses them. */
import type { Delivery, DeliveryState } from "../../domain/delivery.ts"
import { Failure } from "../../domain/failure.ts"
import { AGENT_CHANNEL, addressOf, messageOf, targetOf } from "../../domain/message.ts"
import type { Messages } from "../../domain/messages.ts"
import { because, type ReasonWords } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { DAY_MS } from "../../lib/time.ts"
import { move } from "../../lib/transitions.ts"
export interface Stuck {
  /** Newest first. */
  list(): Promise<Delivery[]>
  /** With `again`, the same words go to the same one, and the new message's id is told. */
  settle(id: string, options: { again: boolean }): Promise<{ settled: boolean; newId?: string; reason?: ReasonWords }>
}

const STATES: readonly DeliveryState[] = ["uncertain", "failed", "expired"]
/** What nobody cared about for so long is no longer worth a place on the page. */
const SHOWN_MS = 7 * DAY_MS
const MOST = 50

export function makeStuck({
  store,
  clock,
  messages,
}: {
  store: Store
  clock: Clock
  messages: Pick<Messages, "send" | "byId">
}): Stuck {
  return {
    async list() {
      const sinceMs = clock.nowMs() - SHOWN_MS
      const found = await store.deliveries.ofChannel(AGENT_CHANNEL, STATES)
      return found
        .filter(({ settledAtMs, createdAtMs }) => (settledAtMs ?? createdAtMs) >= sinceMs)
        .toReversed()
        .slice(0, MOST)
    },

    async settle(id, { again }) {
      const delivery = await messages.byId(id)
      if (!delivery) throw new Failure("message_not_found", `there is no message ${id}`, { id })
      if (!STATES.includes(delivery.state)) return { settled: false, reason: because("state_is", delivery.state).words }
      let newId: string | undefined
      if (again) {
        const { text, priority, sender, isCommand } = messageOf(delivery)
        // Under a key of its own: who presses twice has said it once.
        const options = { text, priority, sender, isCommand, allowTwin: true, idempotencyKey: `again ${id}` }
        const sent = await messages.send({ ...options, target: targetOf(addressOf(delivery)) })
        if (!sent.queued && sent.id === undefined) return { settled: false, reason: sent.reason }
        newId = sent.id
      }
      const outcome = newId === undefined ? because("left") : because("said_again", newId)
      const settled = await store.transaction((tx) => move(tx, delivery, STATES, "cancelled", clock.nowMs(), outcome))
      return { settled, ...(newId !== undefined && { newId }) }
    },
  }
}
