import { setTimeout as sleep } from "node:timers/promises"
import { Failure } from "../../domain/failure.ts"

export interface EmbeddingPauses {
  /** How long an exchange must have been left alone. */
  settleMs: number
  /** Between looks for what nobody told us of. */
  restMs: number
  /** After the first failure in a row; each further one doubles it. */
  firstTroubleMs: number
  longestTroubleMs: number
}

const usual: EmbeddingPauses = { settleMs: 15_000, restMs: 600_000, firstTroubleMs: 1_000, longestTroubleMs: 300_000 }

/** When the making of vectors waits, and for what. All of it ends with the signal. */
export function makePauses(signal: AbortSignal, given: Partial<EmbeddingPauses> = {}) {
  const { settleMs, restMs, firstTroubleMs, longestTroubleMs } = { ...usual, ...given }
  let wake = () => {}
  const wait = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {})
  return {
    settleMs,
    wake: () => wake(),
    /** Between two batches: searches on the same thread come first. */
    breathe: () => wait(1),
    /** Until something told of has settled, or until it is time to look; true when it was told. */
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
      /** At least as long as the server asked for. */
      atLeastMs: (error: unknown) => (error instanceof Failure ? Number(error.data.retryAfterMs ?? 0) : 0),
    },
  }
}
