import type { Delivery } from "../../domain/delivery.ts"
import type { Outgoing } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import { type LeasesDeps, makeLeases } from "../../lib/leases.ts"
import type { Settled } from "../../lib/transitions.ts"
import { outgoingOf, type Progress, progressOf, withoutWords } from "./progress.ts"

/** The head of a lane, leased. */
export interface Job {
  delivery: Delivery
  outgoing: Outgoing
  progress: Progress
}

export interface OutboxQueueDeps extends Pick<LeasesDeps, "clock" | "host" | "ownerPrefix"> {
  store: Store
  channelId: string
}

type Also = (tx: Store) => Promise<unknown>
export type OutboxQueue = ReturnType<typeof makeOutboxQueue>

/** The progress of jobs, each step written together with its effects. */
export function makeOutboxQueue({ store, channelId, ...deps }: OutboxQueueDeps) {
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
    /** Leased now. */
    jobs: () => [...leases.held.values()].map(jobOf),
    /** Before the call, with what must be known after a crash. False when another daemon has the job now. */
    begin(job: Job, change: Partial<Progress>, also: Also): Promise<boolean> {
      job.progress = { ...job.progress, ...change }
      return leases.begin(job.delivery, {
        async also(tx) {
          await rewrite(tx, job)
          await also(tx)
        },
      })
    },
    async note(job: Job, change: Partial<Progress>, also?: Also): Promise<void> {
      job.progress = { ...job.progress, ...change }
      await store.transaction(async (tx) => {
        await rewrite(tx, job)
        await also?.(tx)
      })
    },
    settle(job: Job, state: Settled, outcome: string | null, also?: Also): Promise<void> {
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

/** How many messages of a lane are considered for coalescing. */
export const MOST_TOGETHER = 1_000
