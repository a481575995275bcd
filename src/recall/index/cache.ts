import { decodeList, type List } from "./list.ts"
import { isPack, listIn } from "./pack.ts"
import type { Segment } from "./segment.ts"

/** What the objects around a list take, roughly. */
const OVERHEAD_BYTES = 600
const ABSENT_BYTES = 60

/**
 * Two maps instead of one ordered by use: what is used again moves to the young one, and when that is full the old one
 * goes as a whole. A single map that is evicted from its front walks over what was deleted before.
 */
export class ListCache {
  readonly #maxBytes: number
  #young = new Map<number, TermLists>()
  #old = new Map<number, TermLists>()
  #youngBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** undefined: not known. null: known not to be there. */
  get(term: number, segment: Segment): List | null | undefined {
    return this.#entry(term)?.lists.get(segment)
  }

  /** Of the row that was read for it: its own, or the pack in which it is if it is anywhere. */
  put(term: number, segment: Segment, bytes: Uint8Array | undefined): List | null {
    const list = bytes === undefined ? null : listFrom(bytes, term, segment.docs.size)
    let entry = this.#entry(term)
    if (!entry) {
      entry = { lists: new Map(), bytes: 0 }
      this.#young.set(term, entry)
    }
    const size = list === null ? ABSENT_BYTES : bytesOf(list) + OVERHEAD_BYTES
    entry.lists.set(segment, list)
    entry.bytes += size
    this.#add(size)
    return list
  }

  /** A segment is gone. */
  forget(segment: Segment): void {
    for (const generation of [this.#young, this.#old])
      for (const entry of generation.values()) entry.lists.delete(segment)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
    this.#youngBytes = 0
  }

  #entry(term: number): TermLists | undefined {
    const young = this.#young.get(term)
    if (young) return young
    const old = this.#old.get(term)
    if (!old) return undefined
    this.#old.delete(term)
    this.#young.set(term, old)
    this.#add(old.bytes)
    return old
  }

  #add(bytes: number): void {
    this.#youngBytes += bytes
    if (this.#youngBytes <= this.#maxBytes / 2) return
    this.#old = this.#young
    this.#young = new Map()
    this.#youngBytes = 0
  }
}

const listFrom = (bytes: Uint8Array, term: number, size: number) =>
  isPack(bytes) ? listIn(bytes, term, size) : decodeList(bytes, size)

const bytesOf = ({ docs, places, impacts, starts }: List) =>
  (docs?.byteLength ?? 0) + (places?.byteLength ?? 0) + impacts.byteLength + starts.byteLength

interface TermLists {
  lists: Map<Segment, List | null>
  bytes: number
}

/** The numbers of words; 0 for a word that the dictionary does not have. In two generations like the lists. */
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
