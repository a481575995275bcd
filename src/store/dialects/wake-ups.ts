import { EventEmitter } from "node:events"
import { after } from "../../lib/clock.ts"

/** Throttle: the first of a burst is reported at once, the rest together after this. */
const GATHER_MS = 10

export interface WakeUps {
  /** Wakes the listeners after the current response is out: it must not wait for their work. */
  ring(): void
  on(listener: () => void): () => void
  close(): void
}

export function makeWakeUps(): WakeUps {
  const listeners = new EventEmitter().setMaxListeners(0)
  let isPending = false
  let emittedAtMs = Number.NEGATIVE_INFINITY
  const emit = () => {
    isPending = false
    emittedAtMs = performance.now()
    listeners.emit("wake")
  }
  return {
    ring() {
      if (isPending) return
      isPending = true
      const leftMs = emittedAtMs + GATHER_MS - performance.now()
      if (leftMs <= 0) setImmediate(emit)
      else after(leftMs, emit)
    },
    on(listener) {
      listeners.on("wake", listener)
      return () => listeners.off("wake", listener)
    },
    close: () => void listeners.removeAllListeners(),
  }
}
