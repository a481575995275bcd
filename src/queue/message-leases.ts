/** The leases of messages, in the terms of the agents that they go to. */
import type { Delivery } from "../domain/delivery.ts"
import type { LiveAgent } from "../domain/live.ts"
import { AGENT_CHANNEL, type DeliveryRoute, messageOf, unreadableMessage } from "../domain/message.ts"
import { because, type Reason, wordsOf } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import { makeBell } from "../lib/bell.ts"
import { type Leases, type LeasesDeps, makeLeases } from "../lib/leases.ts"
import { type Settled, stateEntry } from "../lib/transitions.ts"
import { waitingEntry } from "./messages/entries.ts"
export interface MessageLeases extends Omit<Leases, "begin" | "giveBack" | "retry" | "settle"> {
  /** Written before anything is done. False when somebody else has it now. */
  begin(delivery: Delivery, agent: LiveAgent, route: DeliveryRoute): Promise<boolean>
  /** Nothing was done with it. Without a reason, what it waited for before holds still. */
  giveBack(delivery: Delivery, reason?: Reason): Promise<void>
  /** It is known not to have arrived: another try. */
  again(delivery: Delivery, reason: Reason): Promise<void>
  settle(delivery: Delivery, state: Settled, reason?: Reason): Promise<void>
  /** Whether it has left the queue within this time: the evidence is found by whoever follows the journal. */
  isConfirmed(delivery: Delivery, withinMs: number, signal: AbortSignal): Promise<boolean>
  /** Evidence of it is being written: worth a look when it is. */
  noticed(key: string): void
}

export interface MessageLeasesDeps extends Pick<LeasesDeps, "clock" | "host" | "ownerPrefix" | "owner"> {
  store: Store
}

const CONFIRM_POLL_MS = 250

export function makeMessageLeases({ store, ...deps }: MessageLeasesDeps): MessageLeases {
  const leases = makeLeases({
    ...{ ...deps, store, channel: AGENT_CHANNEL, expires: [AGENT_CHANNEL] },
    payload: { misfit: messageOf.misfit, placeholder: unreadableMessage },
  })
  const noticed = new Set<string>()

  return {
    ...leases,
    begin: (delivery, { session }, route) => leases.begin(delivery, { route: { sessionId: session.id, route } }),
    giveBack(delivery, reason) {
      const words = wordsOf(reason) ?? delivery.outcome ?? because("agent_busy").words
      return leases.giveBack(delivery, words, {
        async also(tx, nowMs) {
          if (words !== delivery.outcome && (await isPersons(tx, delivery)))
            await tx.journal.append([waitingEntry(delivery, nowMs)])
        },
      })
    },
    again: (delivery, reason) => leases.retry(delivery, reason.words),
    settle: (delivery, state, reason) =>
      leases.settle(delivery, state, wordsOf(reason), (tx, nowMs) =>
        tx.journal.append([stateEntry(delivery, state, nowMs, reason)]),
      ),
    async isConfirmed(delivery, withinMs, signal) {
      const { key } = delivery
      const bell = makeBell({ signal })
      // The store wakes for every change, and many wait here at the same time.
      const off = store.onWake(() => noticed.has(key) && bell.ring())
      const untilMs = performance.now() + withinMs
      try {
        while (!signal.aborted) {
          const now = await store.deliveries.byKey(key).catch(() => delivery)
          if (now?.state !== "queued") {
            leases.drop(delivery)
            return true
          }
          const leftMs = untilMs - performance.now()
          if (leftMs <= 0) return false
          await bell.wait(Math.min(leftMs, CONFIRM_POLL_MS))
        }
        return false
      } finally {
        off()
        noticed.delete(key)
      }
    },
    noticed: (key) => void ([...leases.held.values()].some((one) => one.key === key) && noticed.add(key)),
  }
}

/** Whether it, or one that waits behind it, was written in a messenger: whoever wrote it is told why it waits. */
async function isPersons(tx: Store, { lane, payload }: Delivery): Promise<boolean> {
  if (messageOf({ payload }).sessionId === undefined) return false
  const waiting = await tx.deliveries.ofLanes([lane], { states: ["queued"], first: LOOKED_THROUGH })
  return waiting.some((one) => messageOf(one).origin !== undefined)
}

const LOOKED_THROUGH = 100
