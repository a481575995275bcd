import type { Delivery, DeliveryState } from "../../domain/delivery.ts"
import type { NewJournalEntry } from "../../domain/journal.ts"
import { addressOf, messageOf } from "../../domain/message.ts"
import { because, type Reason, wordsOf } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"

/** What the journal says when a message comes into a state. Written in the transaction that changes it. */
export function stateEntry(
  delivery: Pick<Delivery, "key" | "payload" | "sessionId" | "rung">,
  state: DeliveryState,
  atMs: number,
  reason: Reason | null = null,
): NewJournalEntry {
  const { team, sessionId = null } = addressOf(delivery)
  return {
    kind: `message.${state}`,
    sessionId: delivery.sessionId ?? sessionId,
    atMs,
    data: {
      id: delivery.key,
      ...(team === undefined ? { sessionId } : { team }),
      state,
      ...(delivery.rung === null ? {} : { rung: delivery.rung }),
      ...(reason === null ? {} : { reason: reason.words }),
    },
  }
}

/** A message, and what is behind it, waits for something else than before. */
export function waitingEntry(delivery: Pick<Delivery, "key" | "payload">, atMs: number): NewJournalEntry {
  const { sessionId = null } = addressOf(delivery)
  return { kind: "message.waiting", sessionId, atMs, data: { id: delivery.key } }
}

type End = Exclude<DeliveryState, "queued">

/** Settles what is leased, for whoever holds the lease, and says so. Runs inside of a transaction. */
export async function settleLeased(
  tx: Store,
  delivery: Delivery,
  state: End,
  nowMs: number,
  reason: Reason | null = null,
): Promise<boolean> {
  if (!(await tx.deliveries.settle(delivery.seq, delivery.leaseOwner ?? "", state, wordsOf(reason), nowMs)))
    return false
  await tx.journal.append([stateEntry(delivery, state, nowMs, reason)])
  return true
}

/** From one state to the next, one entry for each. Runs inside of a transaction. */
export async function moveOn(
  tx: Store,
  delivery: Delivery,
  states: readonly End[],
  nowMs: number,
  reason: Reason | null = null,
): Promise<void> {
  let from = delivery.state
  for (const to of states) {
    if (!(await tx.deliveries.move(delivery.seq, [from], to, wordsOf(reason), nowMs))) return
    await tx.journal.append([stateEntry(delivery, to, nowMs, reason)])
    from = to
  }
}

/** Its session has ended. A command may have been the one that ended it: /clear does. */
export function endedOver(tx: Store, delivery: Delivery, nowMs: number): Promise<void> {
  const isCommand = messageOf(delivery).isCommand === true
  if (isCommand) return moveOn(tx, delivery, ["done"], nowMs, because("ended_since"))
  return moveOn(tx, delivery, ["failed"], nowMs, because("session_closed_early"))
}

const ORDER: readonly DeliveryState[] = ["delivered", "seen", "running", "done"]

/** The states that lie between, the last one included; none where it is past that. */
export const upTo = (last: "running" | "done", from: DeliveryState) =>
  ORDER.slice(ORDER.indexOf(from) + 1, ORDER.indexOf(last) + 1) as End[]
