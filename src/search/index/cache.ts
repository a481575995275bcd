import { decodePostings, type PostingList } from "./posting-list.ts"
import { isPage, postingsInPage } from "./posting-page.ts"
import type { Segment } from "./segment.ts"

/** What the objects around a list take, roughly. */
const OVERHEAD_BYTES = 600
const ABSENT_BYTES = 60

/** What reading costs whatever its length, in bytes that could be read meanwhile. */
const READ_COST_BYTES = 30_000
/** So much is kept when there is too much: less often, and then more at once. */
const KEPT_SHARE = 0.8

/**
 * Lists by what it would cost to read them again and how often they were used, for each byte they take. What is not used
 * loses its worth with time: each new one is worth as much more as what went last. A few dozen words are in most queries
 * and in most documents; by age alone their lists would be read again and again.
 *
 * Most words of a query do not come again soon. They are only held until the next ones are read, and kept when they are read
 * a second time: what is kept for a while and then dropped is what the garbage collector has most work with.
 */
export class PostingListCache {
  readonly #maxBytes: number
  readonly #byTerm = new Map<number, TermPostings>()
  #held = new Map<number, TermPostings>()
  readonly #missed = new Remembered()
  #bytes = 0
  #gone = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Of the segments for which it is known; null where it is known not to be there. */
  of(term: number): ReadonlyMap<Segment, PostingList | null> | undefined {
    const entry = this.#byTerm.get(term)
    if (entry) this.#use(entry)
    return (entry ?? this.#held.get(term))?.lists
  }

  /** Of the rows that were read for them: its own, or the page in which it is if it is anywhere. */
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
      if (!this.#missed.has(term)) {
        this.#missed.add(term, entry.bytes, this.#maxBytes)
        continue
      }
      held.delete(term)
      this.#byTerm.set(term, entry)
      this.#bytes += entry.bytes
      this.#use(entry)
    }
    if (this.#bytes > this.#maxBytes) this.#makeRoom()
    return lists
  }

  /** A segment is gone. */
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
      if (this.#bytes <= this.#maxBytes * KEPT_SHARE) return
      this.#byTerm.delete(term)
      this.#bytes -= bytes
      this.#gone = worth
    }
  }
}

/** The words of what was read last, about as much as could be kept: in two sets, of which the older goes as a whole. */
class Remembered {
  #young = new Set<number>()
  #old = new Set<number>()
  #bytes = 0

  has(term: number): boolean {
    return this.#young.has(term) || this.#old.has(term)
  }

  add(term: number, bytes: number, maxBytes: number): void {
    this.#young.add(term)
    this.#bytes += bytes
    if (this.#bytes <= maxBytes / 2) return
    this.#old = this.#young
    this.#young = new Set()
    this.#bytes = 0
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
 * The numbers of words; 0 for a word that the dictionary does not have. In two maps: what is used again moves to the young
 * one, and when that is full the old one goes as a whole. A single one that is evicted from its front walks over what was
 * deleted before.
 */
export class WordCache {
  readonly #maxWords: number
  #young = new Map<string, number>()
  #old = new Map<string, number>()

  constructor(maxWords: number) {
    this.#maxWords = maxWords
  }

  get(word: string): number | undefined {
    const young = this.#young.get(word)
    if (young !== undefined) return young
    const old = this.#old.get(word)
    if (old !== undefined) this.set(word, old)
    return old
  }

  set(word: string, term: number): void {
    if (this.#young.size >= this.#maxWords / 2) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(word, term)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
  }
}
