import { Failure } from "../../domain/failure.ts"
import { makeBell } from "../../lib/bell.ts"
import { pause } from "../../lib/clock.ts"

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
  const bell = makeBell({ signal })
  return {
    settleMs,
    wake: bell.ring,
    /** Between batches, because searches on the same thread come first. */
    breathe: () => pause(1, signal),
    /** Until a change has settled, or the next poll; true after a wake-up. */
    async rest(somethingIsFresh: boolean): Promise<boolean> {
      const told = somethingIsFresh || (await bell.wait(restMs))
      if (told) await pause(settleMs, signal)
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
