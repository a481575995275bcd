import { type Bell, makeBell } from "../../lib/bell.ts"
import type { FoundSource } from "./scan.ts"

/** Sources to read: live ones first, then old ones, newest first. */
export type SourceQueue = ReturnType<typeof makeQueue>

export interface ClaimedSource {
  found: FoundSource
  done(): void
}

interface Entry {
  found: FoundSource
  live: boolean
}

/** Memory accounting: a big source takes at most this, and all old ones together about the second. */
const MOST_BYTES = 2_000_000
const BUSY_BYTES = 10_000_000

export function makeQueue() {
  const entries = new Map<string, Entry>()
  const live = new Set<string>()
  /** Sources being read, with their memory. */
  const busy = new Map<string, number>()
  /** Sources that changed while being read; queued again afterwards. */
  const again = new Map<string, Entry>()
  let order: string[] = []
  let isSorted = true
  let bytesLeft = 0
  const takers = new Set<Bell>()
  const empties: (() => void)[] = []

  const isEmpty = () => entries.size === 0 && busy.size === 0
  const put = (key: string, entry: Entry) => {
    if (busy.has(key)) {
      again.set(key, entry)
      return
    }
    const before = remove(key)
    const isLive = entry.live || (before?.live ?? false)
    entries.set(key, { ...entry, live: isLive })
    bytesLeft += entry.found.look.sizeBytes
    if (isLive) live.add(key)
    else {
      order.push(key)
      isSorted = false
    }
    wake()
  }
  const wake = () => {
    for (const bell of takers) bell.ring()
  }
  const remove = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (!entry) return undefined
    bytesLeft -= entry.found.look.sizeBytes
    entries.delete(key)
    live.delete(key)
    return entry
  }
  const next = (liveOnly: boolean): string | undefined => {
    const [first] = live
    if (first !== undefined || liveOnly) return first
    if (busy.values().reduce((sum, bytes) => sum + bytes, 0) >= BUSY_BYTES) return undefined
    if (!isSorted) {
      const times = new Map(order.map((key) => [key, entries.get(key)?.found.look.mtimeMs ?? 0]))
      order = [...times].toSorted((a, b) => a[1] - b[1]).map(([key]) => key)
      isSorted = true
    }
    for (let key = order.pop(); key !== undefined; key = order.pop()) if (entries.has(key)) return key
    return undefined
  }
  const done = (key: string) => {
    busy.delete(key)
    const entry = again.get(key)
    again.delete(key)
    if (entry) put(key, entry)
    wake()
    if (!isEmpty()) return
    for (const resolve of empties.splice(0)) resolve()
  }

  return {
    /** Sources of each platform that are queued or being read. */
    waiting() {
      const counts: Record<string, number> = {}
      for (const key of [...entries.keys(), ...busy.keys()]) {
        const platform = key.slice(0, key.indexOf("\n"))
        counts[platform] = (counts[platform] ?? 0) + 1
      }
      return counts
    },
    put: (key: string, found: FoundSource, live: boolean) => put(key, { found, live }),
    /** Waits for the next source that nobody reads; undefined when aborted. */
    async take(signal: AbortSignal, { liveOnly } = { liveOnly: false }): Promise<ClaimedSource | undefined> {
      const bell = makeBell({ signal })
      takers.add(bell)
      try {
        for (; !signal.aborted; await bell.wait()) {
          const key = next(liveOnly)
          const entry = key === undefined ? undefined : remove(key)
          if (key === undefined || !entry) continue
          busy.set(key, Math.min(entry.found.look.sizeBytes, MOST_BYTES))
          return { found: entry.found, done: () => done(key) }
        }
        return undefined
      } finally {
        takers.delete(bell)
      }
    },
    whenEmpty: () => (isEmpty() ? Promise.resolve() : new Promise<void>((resolve) => empties.push(resolve))),
    left: () => ({ sourcesLeft: entries.size + busy.size, bytesLeft }),
  }
}
