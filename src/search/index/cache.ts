import { decodePostings, type PostingList } from "./posting-list.ts"
import { isPage, postingsInPage } from "./posting-page.ts"
import type { Segment } from "./segment.ts"

const MAX_BYTES = 40 * 1024 * 1024

/** Roughly, the objects around a posting list. */
const OVERHEAD_BYTES = 600
const ABSENT_BYTES = 60

/** The fixed cost of a read, in bytes that could be read in the same time. */
const READ_COST_BYTES = 30_000
/** Evict down to this share, so that eviction is rare. */
const KEPT_SHARE = 0.8

/**
 * GreedyDual-Size-Frequency: a posting list is worth the cost of reading it again times its uses, per byte. Unused entries
 * age, because each new entry starts at the worth of the last one evicted. With LRU, the few dozen words that are in most
 * queries and most documents would be read again and again.
 *
 * Most words of a query do not recur soon. They are held until the next read, and cached on their second read: entries that
 * live for a while and are then dropped cost the garbage collector most.
 */
export class PostingListCache {
  readonly #byTerm = new Map<number, TermPostings>()
  #held = new Map<number, TermPostings>()
  /** The terms read last, about as many as fit the cache. */
  readonly #missed = new Generations<number, true>(MAX_BYTES)
  #bytes = 0
  #gone = 0

  /** By segment; null where the segment is known to have none. */
  of(term: number): ReadonlyMap<Segment, PostingList | null> | undefined {
    const entry = this.#byTerm.get(term)
    if (entry) this.#use(entry)
    return (entry ?? this.#held.get(term))?.lists
  }

  /** `bytes` is the term's own row, or the posting page that may have it. */
  put(read: readonly { term: number; segment: Segment; bytes: Uint8Array | undefined }[]): (PostingList | null)[] {
    const held = new Map<number, TermPostings>()
    const lists = read.map(({ term, segment, bytes }) => {
      const list = bytes === undefined ? null : readPostings(bytes, term, segment.docs.size)
      const kept = this.#byTerm.get(term)
      if (kept) {
        this.#add(kept, segment, list)
        this.#bytes += bytesOf(list)
        return list
      }
      let entry = held.get(term)
      if (!entry) {
        entry = { lists: new Map(), bytes: 0, uses: 0, worth: 0 }
        held.set(term, entry)
      }
      this.#add(entry, segment, list)
      return list
    })
    this.#held = held
    for (const [term, entry] of held) {
      if (!this.#missed.get(term)) {
        this.#missed.set(term, true, entry.bytes)
        continue
      }
      held.delete(term)
      this.#byTerm.set(term, entry)
      this.#bytes += entry.bytes
      this.#use(entry)
    }
    if (this.#bytes > MAX_BYTES) this.#makeRoom()
    return lists
  }

  /** Drops a segment. */
  forget(segment: Segment): void {
    for (const entry of this.#byTerm.values()) {
      const list = entry.lists.get(segment)
      if (list === undefined) continue
      entry.lists.delete(segment)
      entry.bytes -= bytesOf(list)
      this.#bytes -= bytesOf(list)
    }
    this.#held.clear()
  }

  clear(): void {
    this.#byTerm.clear()
    this.#held.clear()
    this.#bytes = 0
  }

  #add(entry: TermPostings, segment: Segment, list: PostingList | null): void {
    entry.lists.set(segment, list)
    entry.bytes += bytesOf(list)
  }

  #use(entry: TermPostings): void {
    entry.uses++
    entry.worth = this.#gone + (entry.uses * (READ_COST_BYTES + entry.bytes)) / (entry.bytes + 1)
  }

  #makeRoom(): void {
    const entries = [...this.#byTerm].sort(([, a], [, b]) => a.worth - b.worth)
    for (const [term, { bytes, worth }] of entries) {
      if (this.#bytes <= MAX_BYTES * KEPT_SHARE) return
      this.#byTerm.delete(term)
      this.#bytes -= bytes
      this.#gone = worth
    }
  }
}

const readPostings = (bytes: Uint8Array, term: number, size: number) =>
  isPage(bytes) ? postingsInPage(bytes, term, size) : decodePostings(bytes, size)

function bytesOf(list: PostingList | null): number {
  if (list === null) return ABSENT_BYTES
  const { docs, places, impacts, starts } = list
  const own = (docs?.byteLength ?? 0) + (places?.byteLength ?? 0) + impacts.byteLength + starts.byteLength
  return own + OVERHEAD_BYTES
}

interface TermPostings {
  lists: Map<Segment, PostingList | null>
  bytes: number
  uses: number
  worth: number
}

/**
 * A cache of two generations: a hit moves to the young one, and the old one is dropped as a whole. Evicting from the front
 * of a single Map would walk over the entries deleted before.
 */
export class Generations<K, V> {
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  #weight = 0
  readonly #maxWeight: number

  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: K, value: V, weight = 1): void {
    if (this.#weight >= this.#maxWeight / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
    }
    this.#weight += weight
    this.#young.set(key, value)
  }
}
