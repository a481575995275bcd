import type { Clock } from "../../domain/clock.ts"
import type { Delivery, DeliveryState } from "../../domain/delivery.ts"
import type { Outgoing } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import { outgoingOf, type Progress, progressOf, withoutWords } from "./progress.ts"

/** The head of a lane, in hand. */
export interface Job {
  delivery: Delivery
  outgoing: Outgoing
  progress: Progress
}

/** What is leased to the outbox: renewed while it waits its turn, and said how it went, together with what went with it. */
export interface OutboxDesk {
  /** Those before this one under the same name are dead. */
  open(): Promise<void>
  /** New heads of lanes, but for these. */
  take(exceptLanes: readonly string[]): Promise<Job[]>
  /** Those that a courier was in the middle of when it ended. */
  takeCutOff(): Promise<Job[]>
  /** Written before the call, with what must be known after a crash. False when somebody else has it now. */
  begin(job: Job, change: Partial<Progress>, also: (tx: Store) => Promise<unknown>): Promise<boolean>
  /** How far it is now. */
  note(job: Job, change: Partial<Progress>, also?: (tx: Store) => Promise<unknown>): Promise<void>
  settle(
    job: Job,
    state: Exclude<DeliveryState, "queued">,
    outcome: string | null,
    also?: (tx: Store) => Promise<unknown>,
  ): Promise<void>
  /** Nothing was done with it. */
  giveBack(job: Job, reason: string): Promise<void>
  /** Not in hand any more; the lease runs out by itself. */
  drop(job: Job): void
  readonly jobs: ReadonlyMap<number, Job>
  renew(): Promise<void>
}

export const LEASE_MS = 30_000
const MOST_IN_HAND = 1_000

export interface DeskDeps {
  store: Store
  clock: Clock
  host: string
  channelId: string
  ownerPrefix: string
  owner: string
}

export function makeOutboxDesk({ store, clock, host, channelId, ownerPrefix, owner }: DeskDeps): OutboxDesk {
  const jobs = new Map<number, Job>()
  const request = () => ({
    owner,
    host,
    leaseMs: LEASE_MS,
    limit: MOST_IN_HAND - jobs.size,
    channels: [channelId],
  })
  const held = (found: Delivery[]): Job[] =>
    found.map((delivery) => {
      const job = { delivery, outgoing: outgoingOf(delivery), progress: progressOf(delivery) }
      jobs.set(delivery.seq, job)
      return job
    })
  const rewrite = (tx: Store, job: Job) =>
    tx.deliveries.rewrite(job.delivery.seq, { ...job.outgoing, progress: job.progress })

  return {
    jobs,
    open: () => store.deliveries.endLeases(ownerPrefix, owner, clock.nowMs()),
    async take(exceptLanes) {
      const wish = { ...request(), exceptLanes }
      if (wish.limit <= 0) return []
      // A lease that a power cut undoes is taken again: no disk is waited for.
      return held(
        await store.transaction((tx) => tx.deliveries.lease(wish, clock.nowMs()), {
          readAgain: true,
        }),
      )
    },
    async takeCutOff() {
      const wish = request()
      return wish.limit <= 0 ? [] : held(await store.deliveries.cutOff(wish, clock.nowMs()))
    },
    async begin(job, change, also) {
      job.progress = { ...job.progress, ...change }
      const { seq } = job.delivery
      const isOurs = await store.transaction(async (tx) => {
        if (!(await tx.deliveries.startAttempt(seq, owner, clock.nowMs()))) return false
        await rewrite(tx, job)
        await also(tx)
        return true
      })
      if (!isOurs) jobs.delete(seq)
      return isOurs
    },
    async note(job, change, also) {
      job.progress = { ...job.progress, ...change }
      await store.transaction(async (tx) => {
        await rewrite(tx, job)
        await also?.(tx)
      })
    },
    async settle(job, state, outcome, also) {
      const { seq, lane } = job.delivery
      const nowMs = clock.nowMs()
      jobs.delete(seq)
      await store.transaction(async (tx) => {
        if (!(await tx.deliveries.settle(seq, owner, state, outcome, nowMs))) return
        await tx.deliveries.rewrite(seq, withoutWords({ ...job.outgoing }))
        if (job.progress.with.length > 0) {
          const waiting = await tx.deliveries.ofLanes([lane], { states: ["queued"], first: MOST_TOGETHER })
          for (const other of waiting.filter((one) => job.progress.with.includes(one.seq))) {
            await tx.deliveries.move(other.seq, ["queued"], state, outcome ?? `with ${job.delivery.key}`, nowMs)
            await tx.deliveries.rewrite(other.seq, withoutWords(other.payload))
          }
        }
        await also?.(tx)
      })
    },
    async giveBack(job, reason) {
      const { seq, dueAtMs } = job.delivery
      jobs.delete(seq)
      await store.transaction((tx) => tx.deliveries.retry(seq, owner, dueAtMs, reason, { isSpared: true }), {
        readAgain: true,
      })
    },
    drop: (job) => void jobs.delete(job.delivery.seq),
    async renew() {
      await store.transaction(
        async (tx) => {
          for (const seq of jobs.keys()) await tx.deliveries.renew(seq, owner, LEASE_MS, clock.nowMs())
        },
        { readAgain: true },
      )
    },
  }
}

/** So many of a lane are looked at when they are put together. */
export const MOST_TOGETHER = 1_000
