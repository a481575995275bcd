/** Tells those who wait for a message that something happened to it. A hint: whoever waits looks again now and then. */
export interface News {
  tell(id: string): void
  /** Nobody is to wait any longer, now or later. */
  end(): void
  readonly isEnding: boolean
  /** Begins to listen at once; `heard` resolves at the next word, or when the time is over. */
  listen(id: string, ms: number): { heard: Promise<void>; stop(): void }
}

export function makeNews(): News {
  const listeners = new Map<string, Set<() => void>>()
  let isEnding = false
  return {
    get isEnding() {
      return isEnding
    },
    end() {
      isEnding = true
      for (const stop of [...listeners.values()].flatMap((all) => [...all])) stop()
    },
    tell(id) {
      for (const listener of [...(listeners.get(id) ?? [])]) listener()
    },
    listen(id, ms) {
      const { promise: heard, resolve } = Promise.withResolvers<void>()
      const all = listeners.get(id) ?? new Set()
      listeners.set(id, all)
      const stop = () => {
        clearTimeout(timer)
        all.delete(stop)
        if (all.size === 0 && listeners.get(id) === all) listeners.delete(id)
        resolve()
      }
      const timer = setTimeout(stop, ms)
      all.add(stop)
      return { heard, stop }
    },
  }
}
