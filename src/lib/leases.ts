import type { AttemptRoute, Delivery } from "../domain/delivery.ts"
import { newKey } from "../domain/ids.ts"
import { because } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Clock } from "./clock.ts"
import { expire, type Settled, stateEntry } from "./transitions.ts"

/** The deliveries of one channel that this process holds: leased, renewed, and given back or settled. */
export interface Leases {
  readonly owner: string
  readonly leaseMs: number
  /** By their number. */
  readonly held: ReadonlyMap<number, Delivery>
  /** Ends the leases of earlier processes under the same prefix. */
  open(): Promise<void>
  /** The first delivery of each free lane. */
  take(lanes: { only?: readonly string[]; except?: readonly string[] }, limit: number): Promise<Delivery[]>
  /** Unrepeatable ones whose attempt was cut off: whoever takes them finds out what became of it. */
  takeCutOff(limit: number): Promise<Delivery[]>
  /** Recorded before the act. False when somebody else has it now. */
  begin(delivery: Delivery, options?: { route?: AttemptRoute; also?: Also }): Promise<boolean>
  /** Nothing was tried: the attempt does not count. */
  giveBack(delivery: Delivery, outcome: string, options?: { dueAtMs?: number; also?: Also }): Promise<void>
  /** It was tried and is to be tried again. */
  retry(delivery: Delivery, outcome: string, options?: { dueAtMs?: number }): Promise<void>
  /** `also` commits with it, and only where the lease still held. */
  settle(delivery: Delivery, state: Settled, outcome: string | null, also?: Also): Promise<void>
  /** No longer renewed; the lease runs out. */
  drop(delivery: Delivery): void
  renew(): Promise<void>
}

/** Runs in the same transaction. */
export type Also = (tx: Store, nowMs: number) => Promise<unknown>

export interface LeasesDeps {
  store: Pick<Store, "deliveries" | "transaction">
  clock: Clock
  host: string
  channel: string
  /** Channels on which this process reports what expires. */
  expires?: readonly string[]
  /** A row that does not fit is failed instead of leased, so that its lane moves on; the placeholder replaces its payload. */
  payload?: { misfit(delivery: Delivery): string | undefined; placeholder(delivery: Delivery): Record<string, unknown> }
  /** Shared by every process of this data directory, one at a time. */
  ownerPrefix: string
  owner?: string
  leaseMs?: number
}

export const LEASE_MS = 30_000
/** A power cut may undo a lease; it is then taken again. */
const RELAXED = { durability: "relaxed" } as const

export function makeLeases({ store, clock, host, channel, expires = [], ownerPrefix, ...deps }: LeasesDeps): Leases {
  const { owner = ownerPrefix + newKey(), leaseMs = LEASE_MS, payload } = deps
  const held = new Map<number, Delivery>()
  const request = (limit: number) => ({ owner, host, leaseMs, limit, channels: [channel] })
  const hold = (found: Delivery[]) => {
    for (const delivery of found) held.set(delivery.seq, delivery)
    return found
  }
  const readable = async (tx: Store, found: Delivery[], nowMs: number) => {
    const { fit = [], unfit = [] } = Object.groupBy(found, (one) =>
      payload?.misfit(one) === undefined ? "fit" : "unfit",
    )
    for (const one of unfit) {
      const reason = because("unreadable", payload!.misfit(one)!)
      const replaced = { ...one, payload: payload!.placeholder(one) }
      await tx.deliveries.rewrite(one.seq, replaced.payload)
      // What was begun may have arrived.
      const state = one.attemptStartedAtMs === null ? "failed" : "uncertain"
      if (!(await tx.deliveries.settle(one.seq, owner, state, reason.words, nowMs))) continue
      if (expires.includes(channel)) await tx.journal.append([stateEntry(replaced, state, nowMs, reason)])
    }
    return fit
  }

  return {
    owner,
    leaseMs,
    held,
    open: () => store.deliveries.endLeases(ownerPrefix, owner, clock.nowMs()),
    async take({ only, except }, limit) {
      const nowMs = clock.nowMs()
      const lanes = { ...(only && { lanes: only }), ...(except && { exceptLanes: except }) }
      return hold(
        await store.transaction(async (tx) => {
          for (const one of expires) await expire(tx, one, nowMs)
          return readable(tx, await tx.deliveries.lease({ ...request(limit), ...lanes }, nowMs), nowMs)
        }, RELAXED),
      )
    },
    async takeCutOff(limit) {
      const nowMs = clock.nowMs()
      return hold(
        await store.transaction(async (tx) => readable(tx, await tx.deliveries.cutOff(request(limit), nowMs), nowMs)),
      )
    },
    async begin(delivery, { route, also } = {}) {
      const nowMs = clock.nowMs()
      const isOurs = await store.transaction(async (tx) => {
        if (!(await tx.deliveries.startAttempt(delivery.seq, owner, nowMs, route))) return false
        await also?.(tx, nowMs)
        return true
      })
      if (isOurs) Object.assign(delivery, { ...route, attemptStartedAtMs: nowMs })
      else held.delete(delivery.seq)
      return isOurs
    },
    // Due since it was: a lease that is being asked for right now may have looked at the clock before.
    async giveBack(delivery, outcome, { dueAtMs = delivery.dueAtMs, also } = {}) {
      held.delete(delivery.seq)
      await store.transaction(async (tx) => {
        const isBack = await tx.deliveries.retry(delivery.seq, owner, dueAtMs, outcome, { countAttempt: false })
        if (isBack) await also?.(tx, clock.nowMs())
      }, RELAXED)
    },
    async retry(delivery, outcome, { dueAtMs = delivery.dueAtMs } = {}) {
      held.delete(delivery.seq)
      await store.deliveries.retry(delivery.seq, owner, dueAtMs, outcome)
    },
    async settle(delivery, state, outcome, also) {
      const nowMs = clock.nowMs()
      held.delete(delivery.seq)
      await store.transaction(async (tx) => {
        if (await tx.deliveries.settle(delivery.seq, owner, state, outcome, nowMs)) await also?.(tx, nowMs)
      })
    },
    drop: (delivery) => void held.delete(delivery.seq),
    async renew() {
      if (held.size === 0) return
      await store.transaction(async (tx) => {
        for (const seq of [...held.keys()]) await tx.deliveries.renew(seq, owner, leaseMs, clock.nowMs())
      }, RELAXED)
    },
  }
}
