import type { Delivery, DeliveryState } from "../domain/delivery.ts"
import type { NewJournalEntry } from "../domain/journal.ts"
import { askOf } from "../domain/pair.ts"
import { type Reason, wordsOf } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"

export type Settled = Exclude<DeliveryState, "queued">

/** An agent has it, and is not done. */
export const WITH_AGENT = ["delivered", "seen", "running"] as const satisfies Settled[]

export const isFinal = (state: DeliveryState) => state !== "queued" && !WITH_AGENT.includes(state as never)

/** What the journal says when a question or a notice comes into a state. Written in the transaction that changes it. */
export function stateEntry(
  delivery: Pick<Delivery, "key" | "payload">,
  state: DeliveryState,
  atMs: number,
  reason: Reason | null = null,
): NewJournalEntry {
  const { pairId, fromTeam, toTeam } = askOf(delivery)
  return {
    kind: `message.${state}`,
    atMs,
    data: {
      id: delivery.key,
      ...(pairId === undefined ? {} : { pair: pairId }),
      from: fromTeam,
      to: toTeam,
      state,
      ...(reason === null ? {} : { reason: reason.words }),
    },
  }
}

/** From where it is, leased by us or handed over, to where it goes. Runs inside of a transaction. */
export async function conclude(
  tx: Store,
  delivery: Delivery,
  state: Settled,
  nowMs: number,
  reason: Reason | null = null,
  /** Which process has it, where that is to be known after a crash. */
  worker?: string,
): Promise<boolean> {
  const { seq, leaseOwner } = delivery
  const outcome = worker ?? wordsOf(reason)
  const isDone =
    (leaseOwner !== null && (await tx.deliveries.settle(seq, leaseOwner, state, outcome, nowMs))) ||
    (await tx.deliveries.move(seq, WITH_AGENT, state, outcome, nowMs))
  if (isDone) await tx.journal.append([stateEntry(delivery, state, nowMs, reason)])
  return isDone
}
