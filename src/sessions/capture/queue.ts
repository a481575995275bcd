import type { FoundSource } from "./scan.ts"

/** Sources to be read: what lives now before what is old, and of the old the newest first. */
export interface SourceQueue {
  put(key: string, found: FoundSource, live: boolean): void
  /** The next one, when there is one; undefined when the signal ends the waiting. */
  take(signal: AbortSignal): Promise<FoundSource | undefined>
  done(): void
  whenEmpty(): Promise<void>
  left(): { sourcesLeft: number; bytesLeft: number }
}

export function makeQueue(): SourceQueue {
  const live = new Map<string, FoundSource>()
  const old = new Map<string, FoundSource>()
  let order: string[] = []
  let sorted = true
  let busy = false
  let wake = () => {}
  let empty: (() => void)[] = []

  const nextOld = (): FoundSource | undefined => {
    if (!sorted) {
      order = [...old].sort(([, a], [, b]) => a.look.mtimeMs - b.look.mtimeMs).map(([key]) => key)
      sorted = true
    }
    for (let key = order.pop(); key !== undefined; key = order.pop()) {
      const found = old.get(key)
      if (found && old.delete(key)) return found
    }
    return undefined
  }
  const nextLive = (): FoundSource | undefined => {
    const [first] = live
    if (first) live.delete(first[0])
    return first?.[1]
  }
  const isEmpty = () => live.size === 0 && old.size === 0 && !busy

  return {
    put(key, found, isLive) {
      if (isLive) {
        old.delete(key)
        live.set(key, found)
      } else if (!live.has(key)) {
        old.set(key, found)
        sorted = false
      }
      wake()
    },
    async take(signal) {
      while (!signal.aborted) {
        const next = nextLive() ?? nextOld()
        if (next) {
          busy = true
          return next
        }
        await new Promise<void>((resolve) => {
          wake = resolve
          signal.addEventListener("abort", wake, { once: true })
        })
        signal.removeEventListener("abort", wake)
      }
      return undefined
    },
    done() {
      busy = false
      if (!isEmpty()) return
      for (const tell of empty) tell()
      empty = []
    },
    whenEmpty: () => (isEmpty() ? Promise.resolve() : new Promise((resolve) => empty.push(resolve))),
    left() {
      let bytesLeft = 0
      for (const { look } of [...live.values(), ...old.values()]) bytesLeft += look.sizeBytes
      return { sourcesLeft: live.size + old.size + Number(busy), bytesLeft }
    },
  }
}
