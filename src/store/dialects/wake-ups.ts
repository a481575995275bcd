import { EventEmitter } from "node:events"

/** The first of a burst is told at once, the rest of it together so much later. */
const GATHER_MS = 10

export interface WakeUps {
  /** Something moved. Who follows is told when the answer under way is out: it must not wait for what they do then. */
  ring(): void
  on(listener: () => void): () => void
  close(): void
}

export function makeWakeUps(): WakeUps {
  const listeners = new EventEmitter().setMaxListeners(0)
  let isRung = false
  let toldAtMs = Number.NEGATIVE_INFINITY
  const tell = () => {
    isRung = false
    toldAtMs = performance.now()
    listeners.emit("wake")
  }
  return {
    ring() {
      if (isRung) return
      isRung = true
      const leftMs = toldAtMs + GATHER_MS - performance.now()
      if (leftMs <= 0) setImmediate(tell)
      else setTimeout(tell, leftMs)
    },
    on(listener) {
      listeners.on("wake", listener)
      return () => listeners.off("wake", listener)
    },
    close: () => void listeners.removeAllListeners(),
  }
}
