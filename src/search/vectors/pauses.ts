import { setTimeout as sleep } from "node:timers/promises"
import { Failure } from "../../domain/failure.ts"

export interface EmbeddingPauses {
  /** Debounce for growing exchanges. */
  settleMs: number
  /** Poll interval. */
  restMs: number
  /** Backoff after the first failure; doubles with each further one. */
  firstTroubleMs: number
  longestTroubleMs: number
}

const usual: EmbeddingPauses = { settleMs: 15_000, restMs: 600_000, firstTroubleMs: 1_000, longestTroubleMs: 300_000 }

/** The waits of the embedding loop. All end with the signal. */
export function makePauses(signal: AbortSignal, given: Partial<EmbeddingPauses> = {}) {
  const { settleMs, restMs, firstTroubleMs, longestTroubleMs } = { ...usual, ...given }
  let wake = () => {}
  const wait = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {})
  return {
    settleMs,
    wake: () => wake(),
    /** Between batches, because searches on the same thread come first. */
    breathe: () => wait(1),
    /** Until a change has settled, or the next poll; true after a wake-up. */
    async rest(somethingIsFresh: boolean): Promise<boolean> {
      const woken = new Promise<boolean>((resolve) => {
        wake = () => resolve(true)
      })
      const told = somethingIsFresh || (await Promise.race([woken, wait(restMs).then(() => false)]))
      if (told) await wait(settleMs)
      return told
    },
    backoff: {
      firstRetryMs: firstTroubleMs,
      mostRetryMs: longestTroubleMs,
      /** At least the server's Retry-After. */
      atLeastMs: (error: unknown) => (error instanceof Failure ? Number(error.data.retryAfterMs ?? 0) : 0),
    },
  }
}
