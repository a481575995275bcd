// Hosts the measured index in its own process; bench/search.ts sends queries, this process times them.
import { setTimeout as sleep } from "node:timers/promises"
import { peakRssMb, rssMb } from "./corpus/running.ts"
import { openPlace, type Place } from "./search-fill.ts"
import {
  type BenchRequest,
  type Found,
  openEngineAlone,
  openTarget,
  type Target,
  type TargetFacts,
} from "./search-target.ts"

export interface Host {
  /** How long indexing the store took, and the result. */
  built(): Promise<TargetFacts & { ms: number; peakMb: number; withoutMb: number }>
  /** At this rate per second without waiting for answers, or one after the other. */
  run(requests: BenchRequest[], perSecond?: number): Promise<Ran>
  facts(): Promise<TargetFacts & { rssMb: number; peakMb: number }>
  close(): Promise<void>
}

export interface Ran {
  /** Measured from the scheduled time of the query. */
  ms: number[]
  found: Found[][]
  /** The peak. */
  rssMb: number
}

export interface HostOptions {
  place: Place
  vectors: boolean
  /** Only the engine, in the main thread, instead of a full search. */
  alone?: boolean
}

/** How often the daemon's commits would wake the index. */
const COMMITS_MS = 50

type Asked = { id: number; do: keyof Host; requests?: BenchRequest[]; perSecond?: number }

if (process.argv[1] === import.meta.filename) {
  const { place, vectors, alone = false } = JSON.parse(process.argv[2]!) as HostOptions
  const store = await openPlace(place)
  // Memory of the process without the index's thread.
  const withoutMb = rssMb(process.pid)
  const openingMs = performance.now()
  const target = await (alone ? openEngineAlone({ store, place }) : openTarget({ store, place, vectors }))
  const builtMs = performance.now() - openingMs
  const answers: Record<keyof Host, (asked: Asked) => Promise<unknown>> = {
    built: async () => ({ ...(await settled(target)), ms: builtMs, peakMb: peakRssMb(process.pid), withoutMb }),
    facts: async () => ({ ...(await target.facts()), rssMb: rssMb(process.pid), peakMb: peakRssMb(process.pid) }),
    run: ({ requests, perSecond }) => run(requests!, perSecond),
    async close() {
      await target.close()
      await store.close()
    },
  }
  const run = async (requests: BenchRequest[], perSecond?: number): Promise<Ran> => {
    await target.prepare(requests)
    const ran: Ran = { ms: [], found: [], rssMb: rssMb(process.pid) }
    const watch = setInterval(() => {
      ran.rssMb = Math.max(ran.rssMb, rssMb(process.pid))
    }, 250)
    const wake = setInterval(() => target.wake(), COMMITS_MS)
    const ask = async (i: number, fromMs: number) => {
      ran.found[i] = await target.search(requests[i]!)
      ran.ms[i] = performance.now() - fromMs
    }
    const startMs = performance.now()
    const asked: Promise<void>[] = []
    for (let i = 0; i < requests.length; i++) {
      if (perSecond === undefined) {
        await ask(i, performance.now())
        continue
      }
      const dueMs = startMs + (i * 1000) / perSecond
      const waitMs = dueMs - performance.now()
      if (waitMs > 0) await sleep(waitMs)
      // Ignores timer jitter, which is not the engine's fault; a blocked loop is.
      const nowMs = performance.now()
      asked.push(ask(i, nowMs - dueMs < 2 ? nowMs : dueMs))
    }
    await Promise.all(asked)
    clearInterval(watch)
    clearInterval(wake)
    return ran
  }
  process.on("message", async (asked: Asked) => {
    try {
      process.send!({ id: asked.id, answer: await answers[asked.do](asked) })
    } catch (error) {
      process.send!({ id: asked.id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
    if (asked.do === "close") process.disconnect()
  })
  process.send!({ id: 0, answer: rssMb(process.pid) })
}

/** Merging and cleanup after indexing count towards the size, not the time. */
async function settled(target: Target): Promise<TargetFacts> {
  let facts = await target.facts()
  for (let same = 0, left = 120; same < 4 && left > 0; left--) {
    await sleep(500)
    const now = await target.facts()
    same = now.sizeBytes === facts.sizeBytes ? same + 1 : 0
    facts = now
  }
  return facts
}
