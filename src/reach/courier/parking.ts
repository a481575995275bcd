import type { Closed } from "./ladder.ts"

/** Lanes whose next message cannot go now: left alone for a moment, longer each time, until something happens. */
export interface Parking {
  park(lane: string, until: Closed["until"], nowMs: number): void
  /** One of its messages went to an agent that is busy with it now. */
  rest(lane: string, nowMs: number): void
  /** One of its messages went: the next one is not late yet. */
  clear(lane: string): void
  /** Something happened: they are tried at once. */
  release(lanes: readonly string[]): void
  /** Those that are still left alone. */
  parked(nowMs: number): string[]
  waitsForTurn(lane: string): boolean
  /** When the next one is tried again; undefined when none is left alone. */
  nextMs(nowMs: number): number | undefined
}

const PAUSES: Record<Closed["until"], { firstMs: number; mostMs: number }> = {
  turn: { firstMs: 50, mostMs: 1_000 },
  idle: { firstMs: 50, mostMs: 1_000 },
  somebody: { firstMs: 200, mostMs: 3_000 },
}

/** Its end is told; this is for the end that is not. */
const REST_MS = 250

export function makeParking(): Parking {
  const lanes = new Map<string, { untilMs: number; times: number; until: Closed["until"] }>()
  return {
    park(lane, until, nowMs) {
      const before = lanes.get(lane)
      const times = before?.until === until ? before.times + 1 : 0
      const { firstMs, mostMs } = PAUSES[until]
      lanes.set(lane, { untilMs: nowMs + Math.min(firstMs * 2 ** times, mostMs), times, until })
    },
    rest: (lane, nowMs) => void lanes.set(lane, { untilMs: nowMs + REST_MS, times: 0, until: "idle" }),
    clear: (lane) => void lanes.delete(lane),
    release(some) {
      for (const lane of some) {
        const parked = lanes.get(lane)
        // A registry that is a moment behind its hook costs the first pause again, and no longer one.
        if (parked) lanes.set(lane, { ...parked, untilMs: 0, times: -1 })
      }
    },
    parked: (nowMs) => [...lanes].flatMap(([lane, { untilMs }]) => (untilMs > nowMs ? [lane] : [])),
    waitsForTurn: (lane) => lanes.get(lane)?.until === "turn",
    nextMs(nowMs) {
      const next = [...lanes.values()].filter(({ untilMs }) => untilMs > nowMs).map(({ untilMs }) => untilMs - nowMs)
      return next.length === 0 ? undefined : Math.min(...next)
    },
  }
}
