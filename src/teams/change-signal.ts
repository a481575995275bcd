import { type Bell, makeBell } from "../lib/bell.ts"

/** Tells those who wait for a message that something happened to it. A hint: whoever waits looks again now and then. */
export interface ChangeSignal {
  signal(id: string): void
  /** Nobody is to wait any longer, now or later. */
  end(): void
  readonly isEnding: boolean
  /** Begins to listen at once: what is told before `wait` is not lost. */
  listen(id: string): { wait: Bell["wait"]; stop(): void }
}

export function makeChangeSignal(): ChangeSignal {
  const listeners = new Map<string, Set<Bell>>()
  let isEnding = false
  return {
    get isEnding() {
      return isEnding
    },
    end() {
      isEnding = true
      for (const bells of listeners.values()) for (const bell of bells) bell.ring()
    },
    signal(id) {
      for (const bell of listeners.get(id) ?? []) bell.ring()
    },
    listen(id) {
      const bell = makeBell()
      const bells = listeners.get(id) ?? new Set()
      listeners.set(id, bells.add(bell))
      return {
        wait: bell.wait,
        stop() {
          bells.delete(bell)
          if (bells.size === 0 && listeners.get(id) === bells) listeners.delete(id)
        },
      }
    },
  }
}
