import { availableParallelism } from "node:os"

/** Longer than most tool calls take, a write to the disk included, and nothing beside the seconds that lie between two of an agent's calls. */
const AWAKE_MS = 2
/** Who waited in vain leaves the processor to the one that is waited for, for so many requests. */
const PASSED_OVER = 15

export interface Wakefulness {
  /** A request was passed on: its answer is due any moment. */
  expect(): void
  /** Something came back. */
  came(): void
}

export interface WakefulnessOptions {
  nowMs?(): number
  /** Runs it when the event loop has looked once at what came. */
  turn?(work: () => void): void
  cores?: number
}

/**
 * Keeps the event loop turning for the moment in which an answer is due. To be put to sleep and woken again costs as much
 * as a small call itself, and the one who answers pays for a part of it.
 */
export function makeWakefulness({
  nowMs = () => performance.now(),
  turn = setImmediate,
  cores = availableParallelism(),
}: WakefulnessOptions = {}): Wakefulness {
  let untilMs: number | undefined
  let isTurning = false
  // On a single core the one that answers could not run meanwhile.
  let passOver = cores > 1 ? 0 : Number.POSITIVE_INFINITY

  const look = () => {
    if (untilMs !== undefined && nowMs() < untilMs) return turn(look)
    isTurning = false
    if (untilMs === undefined) return
    untilMs = undefined
    passOver = PASSED_OVER
  }

  return {
    expect() {
      if (passOver > 0) {
        passOver -= 1
        return
      }
      untilMs = nowMs() + AWAKE_MS
      if (isTurning) return
      isTurning = true
      turn(look)
    },
    came() {
      untilMs = undefined
    },
  }
}
