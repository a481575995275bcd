import type { Store } from "../domain/store.ts"
import { after } from "./clock.ts"

export interface Bell {
  ring(): void
  /** Until it rings, or that much time is over; true when it rang. A ring between two waits is not lost. */
  wait(ms?: number): Promise<boolean>
  /** That much time, also when it rings; it counts for the next wait. */
  pause(ms: number): Promise<void>
  close(): void
}

/** For a loop that waits for something to do. With a store it rings when something moved there; the signal ends all waits. */
export function makeBell({ store, signal }: { store?: Pick<Store, "onWake">; signal?: AbortSignal } = {}): Bell {
  let hasSignal = false
  let wake = () => {}
  const ring = () => {
    hasSignal = true
    wake()
  }
  const close = store?.onWake(ring) ?? (() => {})
  const rest = (ms: number | undefined, onArmed: (finish: () => void) => void) =>
    new Promise<void>((resolve) => {
      const finish = () => {
        cancel?.()
        signal?.removeEventListener("abort", finish)
        wake = () => {}
        resolve()
      }
      const cancel = ms === undefined ? undefined : after(Math.max(0, ms), finish)
      signal?.addEventListener("abort", finish)
      onArmed(finish)
      if (signal?.aborted) finish()
    })
  return {
    ring,
    async wait(ms) {
      if (!hasSignal)
        await rest(ms, (finish) => {
          wake = finish
        })
      const wasSignalled = hasSignal
      hasSignal = false
      return wasSignalled
    },
    pause: (ms) => rest(ms, () => {}),
    close,
  }
}
