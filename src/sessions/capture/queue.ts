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
  let bytesLeft = 0
  let order: string[] = []
  let sorted = true
  let busy = false
  let wake = () => {}
  let empty: (() => void)[] = []

  const add = (to: Map<string, FoundSource>, key: string, found: FoundSource) => {
    take(to, key)
    to.set(key, found)
    bytesLeft += found.look.sizeBytes
  }
  const take = (from: Map<string, FoundSource>, key: string): FoundSource | undefined => {
    const found = from.get(key)
    if (found) bytesLeft -= found.look.sizeBytes
    from.delete(key)
    return found
  }
  const nextOld = (): FoundSource | undefined => {
    if (!sorted) {
      order = [...old].sort(([, a], [, b]) => a.look.mtimeMs - b.look.mtimeMs).map(([key]) => key)
      sorted = true
    }
    for (let key = order.pop(); key !== undefined; key = order.pop()) {
      const found = take(old, key)
      if (found) return found
    }
    return undefined
  }
  const nextLive = (): FoundSource | undefined => {
    const [first] = live.keys()
    return first === undefined ? undefined : take(live, first)
  }
  const isEmpty = () => live.size === 0 && old.size === 0 && !busy

  return {
    put(key, found, isLive) {
      if (isLive) {
        take(old, key)
        add(live, key, found)
      } else if (!live.has(key)) {
        add(old, key, found)
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
    left: () => ({ sourcesLeft: live.size + old.size + Number(busy), bytesLeft }),
  }
}
