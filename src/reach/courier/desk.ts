import type { Clock } from "../../domain/clock.ts"
import type { Delivery, DeliveryState } from "../../domain/delivery.ts"
import { AGENT_CHANNEL, messageOf, type Rung } from "../../domain/message.ts"
import { because, type Reason, wordsOf } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import { settleLeased, stateEntry, waitingEntry } from "../messages/entries.ts"
import type { LiveAgent } from "../watching/live.ts"

/** What the courier has in hand: leased to it, renewed while it is at it, and given back or settled. */
export interface Desk {
  /** Heads of lanes, of these or of all but those. */
  take(lanes: { only?: readonly string[]; except?: readonly string[] }, limit: number): Promise<Delivery[]>
  /** Those that were in the middle when a courier ended. */
  takeCutOff(limit: number): Promise<Delivery[]>
  /** Written before anything is done. False when somebody else has it now. */
  begin(delivery: Delivery, agent: LiveAgent, rung: Rung): Promise<boolean>
  /** Nothing was done with it. Without a reason, what it waited for before holds still. */
  giveBack(delivery: Delivery, reason?: Reason): Promise<void>
  /** It is known not to have arrived: another try. */
  again(delivery: Delivery, reason: Reason): Promise<void>
  settle(delivery: Delivery, state: Exclude<DeliveryState, "queued">, reason?: Reason): Promise<void>
  /** Whether it has left the queue within this time: the evidence is found by whoever follows the journal. */
  isConfirmed(delivery: Delivery, withinMs: number, signal: AbortSignal): Promise<boolean>
  /** Evidence of it is being written: worth a look when it is. */
  noticed(key: string): void
  /** No longer in hand, whatever became of it. */
  drop(delivery: Delivery): void
  readonly size: number
  /** Former ones of this name hold nothing any more. */
  open(): Promise<void>
  renew(): Promise<void>
}

export interface DeskDeps {
  store: Store
  clock: Clock
  host: string
  /** The same for every courier of this home; those before this one are dead. */
  ownerPrefix: string
  owner: string
}

export const LEASE_MS = 30_000
const CONFIRM_POLL_MS = 250

export function makeDesk({ store, clock, host, ownerPrefix, owner }: DeskDeps): Desk {
  const inHand = new Map<number, Delivery>()
  const noticed = new Set<string>()
  const request = (limit: number) => ({ owner, host, leaseMs: LEASE_MS, limit, channels: [AGENT_CHANNEL] })
  const held = (found: Delivery[]) => {
    for (const delivery of found) inHand.set(delivery.seq, delivery)
    return found
  }

  return {
    async take({ only, except }, limit) {
      const nowMs = clock.nowMs()
      // A lease that a power cut undoes is taken again: no disk is waited for.
      return held(
        await store.transaction(
          async (tx) => {
            const expired = await tx.deliveries.expire(AGENT_CHANNEL, nowMs)
            await tx.journal.append(expired.map((one) => stateEntry(one, "expired", nowMs, because("expired"))))
            const lanes = { ...(only ? { lanes: only } : {}), ...(except ? { exceptLanes: except } : {}) }
            return tx.deliveries.lease({ ...request(limit), ...lanes }, nowMs)
          },
          { readAgain: true },
        ),
      )
    },
    async takeCutOff(limit) {
      return held(await store.deliveries.cutOff(request(limit), clock.nowMs()))
    },
    async begin(delivery, { session }, rung) {
      const nowMs = clock.nowMs()
      const way = { sessionId: session.id, rung }
      if (!(await store.deliveries.startAttempt(delivery.seq, owner, nowMs, way))) return false
      Object.assign(delivery, { ...way, attemptStartedAtMs: nowMs })
      return true
    },
    async giveBack(delivery, reason) {
      inHand.delete(delivery.seq)
      const spared = { isSpared: true }
      const words = wordsOf(reason) ?? delivery.outcome ?? because("agent_busy").words
      // Due since it was: a lease that is being asked for right now may have looked at the clock before.
      await store.transaction(
        async (tx) => {
          const isBack = await tx.deliveries.retry(delivery.seq, owner, delivery.dueAtMs, words, spared)
          if (isBack && words !== delivery.outcome && (await isPersons(tx, delivery)))
            await tx.journal.append([waitingEntry(delivery, clock.nowMs())])
        },
        { readAgain: true },
      )
    },
    async again(delivery, reason) {
      inHand.delete(delivery.seq)
      await store.deliveries.retry(delivery.seq, owner, delivery.dueAtMs, reason.words)
    },
    async settle(delivery, state, reason) {
      inHand.delete(delivery.seq)
      await store.transaction((tx) => settleLeased(tx, delivery, state, clock.nowMs(), reason))
    },
    isConfirmed: (delivery, withinMs, signal) =>
      new Promise((resolve) => {
        let isOver = false
        const finish = (confirmed: boolean) => {
          if (isOver) return
          isOver = true
          noticed.delete(delivery.key)
          off()
          clearInterval(poll)
          clearTimeout(patience)
          signal.removeEventListener("abort", onAbort)
          if (confirmed) inHand.delete(delivery.seq)
          resolve(confirmed)
        }
        let isLooking = false
        const look = async () => {
          if (isOver || isLooking) return
          isLooking = true
          const now = await store.deliveries.byKey(delivery.key).catch(() => delivery)
          isLooking = false
          if (now?.state !== "queued") finish(true)
        }
        const onAbort = () => finish(false)
        // The store wakes for whatever moves, and many wait here at the same time.
        const off = store.onWake(() => void (noticed.has(delivery.key) && look()))
        const poll = setInterval(look, CONFIRM_POLL_MS)
        const patience = setTimeout(() => finish(false), withinMs)
        signal.addEventListener("abort", onAbort)
        if (signal.aborted) finish(false)
        else void look()
      }),
    noticed: (key) => void ([...inHand.values()].some((one) => one.key === key) && noticed.add(key)),
    drop: (delivery) => void inHand.delete(delivery.seq),
    get size() {
      return inHand.size
    },
    open: () => store.deliveries.endLeases(ownerPrefix, owner, clock.nowMs()),
    async renew() {
      for (const { seq } of inHand.values()) await store.deliveries.renew(seq, owner, LEASE_MS, clock.nowMs())
    },
  }
}

/** Whether it, or one that waits behind it, was written in a messenger: whoever wrote it is told why it waits. */
async function isPersons(tx: Store, { lane, payload }: Delivery): Promise<boolean> {
  if (messageOf({ payload }).sessionId === undefined) return false
  const waiting = await tx.deliveries.ofLanes([lane], { states: ["queued"], first: LOOKED_THROUGH })
  return waiting.some((one) => messageOf(one).origin !== undefined)
}

const LOOKED_THROUGH = 100
