/** Lanes that are left alone for a while, because nothing can be done for their next delivery now. */
export interface Backoff<Cause extends string = never> {
  /** Longer each time in a row for the same cause. */
  pause(lane: string, cause: Cause, nowMs: number): void
  /** For this long; with a cause, the next pause for it is the second one. */
  pauseFor(lane: string, ms: number, nowMs: number, cause?: Cause): void
  clear(lane: string): void
  /** Something happened: these lanes, or all of them, are tried at once. */
  release(lanes?: Iterable<string>): void
  /** Those still left alone. */
  paused(nowMs: number): string[]
  /** Why it was left alone last, until it is cleared. */
  causeOf(lane: string): Cause | undefined
  /** When the first of those paused at that time is due; Infinity when none is. */
  nextAtMs(nowMs: number): number
}

export type Pauses<Cause extends string> = Readonly<Record<Cause, { firstMs: number; mostMs: number }>>

export function makeBackoff<Cause extends string = never>(pauses: Pauses<Cause>): Backoff<Cause> {
  const lanes = new Map<string, { untilMs: number; times: number; cause: Cause | undefined }>()
  return {
    pause(lane, cause, nowMs) {
      const before = lanes.get(lane)
      const times = before?.cause === cause ? before.times + 1 : 0
      const { firstMs, mostMs } = pauses[cause]
      lanes.set(lane, { untilMs: nowMs + Math.min(firstMs * 2 ** times, mostMs), times, cause })
    },
    pauseFor: (lane, ms, nowMs, cause) => void lanes.set(lane, { untilMs: nowMs + ms, times: 0, cause }),
    clear: (lane) => void lanes.delete(lane),
    release(some = [...lanes.keys()]) {
      for (const lane of some) {
        const paused = lanes.get(lane)
        // A registry that lags behind its hook costs the first pause again, and no longer one.
        if (paused) lanes.set(lane, { ...paused, untilMs: 0, times: -1 })
      }
    },
    paused(nowMs) {
      for (const [lane, { untilMs, cause }] of lanes) if (untilMs <= nowMs && cause === undefined) lanes.delete(lane)
      return [...lanes].flatMap(([lane, { untilMs }]) => (untilMs > nowMs ? [lane] : []))
    },
    causeOf: (lane) => lanes.get(lane)?.cause,
    nextAtMs: (nowMs) =>
      [...lanes.values()].reduce(
        (next, { untilMs }) => (untilMs > nowMs ? Math.min(next, untilMs) : next),
        Number.POSITIVE_INFINITY,
      ),
  }
}
