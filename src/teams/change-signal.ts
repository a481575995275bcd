import { type Bell, makeBell } from "../lib/bell.ts"

/** Wakes the callers that wait for a message when it changes. A hint: waiting callers also poll. */
export interface ChangeSignal {
  signal(id: string): void
  /** Ends all waiting, now and later. */
  end(): void
  readonly isEnding: boolean
  /** Listens from now on: a signal before `wait` is not lost. */
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
