import type { Delivery } from "../domain/delivery.ts"
import type { Backoff } from "./backoff.ts"
import { makeBell } from "./bell.ts"
import { type Clock, sleep, within } from "./clock.ts"
import type { Leases } from "./leases.ts"
import { superviseLoop } from "./supervised-loop.ts"

/** Serves the lanes of one channel until the signal: each in order, all of them side by side. */
export interface LaneRunner {
  run(signal: AbortSignal): Promise<void>
  /** There may be something to do. A hint; losing one costs seconds. */
  ring(): void
  /** Works on it beside the others; shutdown waits for it. */
  start(delivery: Delivery, work: (signal: AbortSignal) => Promise<void>): void
}

/** What is done with deliveries. Anything that takes long goes through `start`: the next round waits for the rest. */
export interface LaneHandler {
  /** Before the first round. */
  open?(): Promise<void>
  /** The next of its lane, just leased. */
  take(delivery: Delivery): Promise<void> | void
  /** Leased by a process that died in the middle of an attempt. Without it, nothing is recovered. */
  recover?(delivery: Delivery): Promise<void> | void
  /** Now and then, and before the first recovery. */
  sweep?(): Promise<void>
  /** Lanes to leave alone, besides those that are paused. */
  except?(): Iterable<string>
  /** At the end of a round; answers with when to look again. */
  plan?(): Promise<number>
  /** Its work failed. By then it is dropped: what was begun stays leased until it is known what became of it. */
  failed(delivery: Delivery, error: unknown, signal: AbortSignal): Promise<void> | void
  /** The signal came; what is under way is waited for after this. */
  close?(): Promise<void>
}

export interface LaneRunnerDeps {
  /** As `doctor` shows its loop. */
  name: string
  clock: Clock
  leases: Pick<Leases, "leaseMs" | "held" | "open" | "take" | "takeCutOff" | "drop" | "renew">
  backoff: Pick<Backoff, "paused" | "nextAtMs">
  handler: LaneHandler
  /** At most this many in progress. */
  most: number
  sweepMs?: number
  /** Many have something at the same moment, and one look serves them all. */
  gatherMs?: number
  /** What takes longer to end is left to the next process. */
  endMs?: number
  /** Wakes the runner whenever this says so. */
  onWake?(listener: () => void): () => void
  onTrouble(error: unknown, what: string): void
}

const POLL_MS = 2_000
const SWEEP_MS = 5_000

export function makeLaneRunner(deps: LaneRunnerDeps): LaneRunner {
  const { name, clock, leases, backoff, handler, most, onTrouble } = deps
  const { sweepMs = SWEEP_MS, gatherMs = 0, endMs } = deps
  const working = new Set<Promise<void>>()
  const bell = makeBell()
  let [renewedAtMs, sweptAtMs] = [0, 0]
  let ending: AbortSignal = AbortSignal.abort()

  /** Answers with when to look again. */
  const round = async (): Promise<number> => {
    const nowMs = clock.nowMs()
    // First of all: a machine that slept would take its own deliveries a second time.
    if (nowMs - renewedAtMs >= leases.leaseMs / 3) {
      renewedAtMs = nowMs
      await leases.renew()
    }
    if (nowMs - sweptAtMs >= sweepMs) {
      sweptAtMs = nowMs
      await handler.sweep?.()
      const cutOff = handler.recover ? await leases.takeCutOff(most) : []
      for (const delivery of cutOff) await handler.recover?.(delivery)
    }
    // Some work goes on for what is no longer leased.
    const room = most - Math.max(leases.held.size, working.size)
    if (room > 0) {
      const except = [...backoff.paused(nowMs), ...(handler.except?.() ?? [])]
      for (const delivery of await leases.take({ except }, room)) await handler.take(delivery)
    }
    const plannedMs = (await handler.plan?.()) ?? Number.POSITIVE_INFINITY
    return Math.min(nowMs + POLL_MS, backoff.nextAtMs(nowMs), plannedMs)
  }

  return {
    async run(signal) {
      ending = signal
      const off = deps.onWake?.(bell.ring)
      signal.addEventListener("abort", bell.ring)
      let isOpen = false
      await superviseLoop({
        name,
        signal,
        onTrouble,
        async round(_, alive) {
          if (!isOpen) {
            await leases.open()
            await handler.open?.()
          }
          isOpen = true
          const nextMs = await round()
          alive()
          await bell.wait(nextMs - clock.nowMs())
          if (gatherMs > 0) await sleep(gatherMs)
        },
      })
      off?.()
      signal.removeEventListener("abort", bell.ring)
      await handler.close?.()
      const ended = Promise.all(working)
      await (endMs === undefined ? ended : within(endMs, ended))
    },
    ring: () => bell.ring(),
    start(delivery, work) {
      const done = work(ending)
        .catch((error: unknown) => {
          leases.drop(delivery)
          return handler.failed(delivery, error, ending)
        })
        .catch((error: unknown) => onTrouble(error, delivery.key))
        .finally(() => {
          working.delete(done)
          bell.ring()
        })
      working.add(done)
    },
  }
}
