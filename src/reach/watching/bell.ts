import { setTimeout as sleep } from "node:timers/promises"
import type { Store } from "../../domain/store.ts"

/** Rings when the store says that something moved; a ring between two waits is not lost. */
export function makeBell(store: Pick<Store, "onWake">, signal: AbortSignal) {
  let rung = false
  let wake: AbortController | undefined
  const close = store.onWake(() => {
    rung = true
    wake?.abort()
  })
  const rest = (ms: number, until: AbortSignal) => sleep(Math.max(0, ms), undefined, { signal: until }).catch(() => {})
  return {
    /** Until it rings, or that much time is over; true when it rang. */
    async wait(ms: number): Promise<boolean> {
      wake = new AbortController()
      if (!rung) await rest(ms, AbortSignal.any([signal, wake.signal]))
      wake = undefined
      const hasRung = rung
      rung = false
      return hasRung
    },
    pause: (ms: number) => rest(ms, signal),
    close,
  }
}
