/** The head of a lane, in hand. */
import type { Delivery } from "../../domain/delivery.ts"
import type { Outgoing } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import { type Leases, type LeasesDeps, makeLeases } from "../../lib/leases.ts"
import type { Settled } from "../../lib/transitions.ts"
import { outgoingOf, type Progress, progressOf, withoutWords } from "./progress.ts"
export interface Job {
  delivery: Delivery
  outgoing: Outgoing
  progress: Progress
}

/** How jobs go on, each step written together with what went with it. */
export interface OutboxQueue {
  leases: Leases
  /** Of what is held. */
  jobOf(delivery: Delivery): Job
  jobs(): Job[]
  /** Written before the call, with what must be known after a crash. False when somebody else has it now. */
  begin(job: Job, change: Partial<Progress>, also: (tx: Store) => Promise<unknown>): Promise<boolean>
  /** How far it is now. */
  note(job: Job, change: Partial<Progress>, also?: (tx: Store) => Promise<unknown>): Promise<void>
  settle(job: Job, state: Settled, outcome: string | null, also?: (tx: Store) => Promise<unknown>): Promise<void>
}

export interface OutboxQueueDeps extends Pick<LeasesDeps, "clock" | "host" | "ownerPrefix"> {
  store: Store
  channelId: string
}

export function makeOutboxQueue({ store, channelId, ...deps }: OutboxQueueDeps): OutboxQueue {
  const leases = makeLeases({ ...deps, store, channel: channelId })
  const known = new WeakMap<Delivery, Job>()
  const jobOf = (delivery: Delivery): Job => {
    const job = known.get(delivery) ?? { delivery, outgoing: outgoingOf(delivery), progress: progressOf(delivery) }
    known.set(delivery, job)
    return job
  }
  const rewrite = (tx: Store, job: Job) =>
    tx.deliveries.rewrite(job.delivery.seq, { ...job.outgoing, progress: job.progress })

  return {
    leases,
    jobOf,
    jobs: () => [...leases.held.values()].map(jobOf),
    begin(job, change, also) {
      job.progress = { ...job.progress, ...change }
      return leases.begin(job.delivery, {
        async also(tx) {
          await rewrite(tx, job)
          await also(tx)
        },
      })
    },
    async note(job, change, also) {
      job.progress = { ...job.progress, ...change }
      await store.transaction(async (tx) => {
        await rewrite(tx, job)
        await also?.(tx)
      })
    },
    settle(job, state, outcome, also) {
      const { seq, lane, key } = job.delivery
      return leases.settle(job.delivery, state, outcome, async (tx, nowMs) => {
        await tx.deliveries.rewrite(seq, withoutWords({ ...job.outgoing }))
        if (job.progress.with.length > 0) {
          const waiting = await tx.deliveries.ofLanes([lane], { states: ["queued"], first: MOST_TOGETHER })
          for (const other of waiting.filter((one) => job.progress.with.includes(one.seq))) {
            await tx.deliveries.move(other.seq, ["queued"], state, outcome ?? `with ${key}`, nowMs)
            await tx.deliveries.rewrite(other.seq, withoutWords(other.payload))
          }
        }
        await also?.(tx)
      })
    },
  }
}

/** So many of a lane are looked at when they are put together. */
export const MOST_TOGETHER = 1_000
