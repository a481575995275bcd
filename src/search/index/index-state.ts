import { isDeepStrictEqual } from "node:util"
import type { IndexChange, IndexTables, SessionRow, TombstonesRow } from "../../domain/index-tables.ts"
import { Generations, PostingListCache } from "./cache.ts"
import { CommonWords } from "./common.ts"
import { Counts, eachCount, FIRST_COUNTS_ROW } from "./counts.ts"
import type { Memtable } from "./memtable.ts"
import type { PostingList } from "./posting-list.ts"
import type { Segment } from "./segment.ts"

export type View = Segment | Memtable

const newWords = () => new Generations<string, number>(40_000)

/** Rows of counts per read. */
const COUNTS_ROWS = 32

/** The current segments, memtables and assigned numbers. */
export class IndexState {
  readonly tables: IndexTables
  readonly postingLists = new PostingListCache()
  /** Terms by word; 0 if the dictionary does not have the word. */
  words = newWords()
  readonly counts = new Counts()
  readonly common: CommonWords
  readonly sessions = new Sessions()
  /** Oldest first; the last one takes new documents, the others wait to be flushed. */
  memtables: readonly Memtable[] = []
  segments: readonly Segment[] = []
  /** Segments whose postings are still to be dropped; their numbers are not free until then. */
  toDrop: number[] = []
  nextTerm = 1
  readonly #reserved = new Set<number>()
  #loaded: Loaded | undefined

  constructor(tables: IndexTables) {
    this.tables = tables
    this.common = new CommonWords(tables, this.counts)
  }

  /** For when terms may have changed. */
  forgetWords(): void {
    this.words = newWords()
    this.common.clear()
    this.#loaded = undefined
  }

  /** The smallest free one, so that keys of postings fit a number. */
  reserveNumber(): number {
    const used = new Set([...this.segments.map(({ number }) => number), ...this.toDrop, ...this.#reserved])
    let number = 1
    while (used.has(number)) number++
    this.#reserved.add(number)
    return number
  }

  release(number: number): void {
    this.#reserved.delete(number)
  }

  restoreCounts(segment: Segment): void {
    const learn = (term: number, count: number) => {
      this.counts.add(term, count)
      segment.learnTerm(term, count)
    }
    for (let last = FIRST_COUNTS_ROW - 1; ; ) {
      const rows = this.tables.postingsAfter(segment.number, last, COUNTS_ROWS)
      for (const { bytes } of rows) eachCount(bytes, learn)
      if (rows.length < COUNTS_ROWS) return
      last = rows.at(-1)!.row
    }
  }

  replaceSegments(gone: readonly Segment[], come: readonly Segment[]): void {
    this.segments = [...this.segments.filter((segment) => !gone.includes(segment)), ...come]
    for (const segment of gone) this.postingLists.forget(segment)
    this.#loaded = undefined
  }

  /** The live document of this ref; at most one view has it. */
  find(ref: number): { view: View; doc: number } | undefined {
    for (let at = this.memtables.length - 1; at >= 0; at--) {
      const doc = this.memtables[at]!.find(ref)
      if (doc >= 0) return { view: this.memtables[at]!, doc }
    }
    for (const segment of this.segments) {
      const doc = segment.find(ref)
      if (doc >= 0) return { view: segment, doc }
    }
    return undefined
  }

  /** Adds segments and writes new tombstones of the others, except `gone`, in one transaction. */
  commit(added: readonly Segment[], change: IndexChange, gone: readonly Segment[] = []): void {
    const dirty = this.segments.filter((segment) => segment.hasNewTombstones && !gone.includes(segment))
    const marked = added.filter(({ docs }) => docs.removedCount > 0 || docs.hidden.some((byte) => byte !== 0))
    const sessions = this.sessions.unwritten()
    this.tables.write({
      ...change,
      sessions,
      segments: added.map(({ number, docs }) => ({ segment: number, size: docs.size, docs: docs.encode() })),
      tombstones: [...dirty, ...marked].map(tombstonesOf),
    })
    this.sessions.written(sessions)
    for (const segment of dirty) segment.hasNewTombstones = false
  }

  /** The posting lists of these words in every view. A search loads the same words twice: to find, then to rank. */
  load(words: readonly string[]): Loaded {
    const { segments, memtables } = this
    // Only the last memtable grows.
    const lastSize = memtables.at(-1)?.docs.size ?? 0
    const before = this.#loaded
    const isCurrent = before?.segments === segments && before.memtables === memtables && before.lastSize === lastSize
    if (isCurrent && isDeepStrictEqual(before.words, words)) return before
    // Words of a phrase are also query words.
    const unique = [...new Set(words)]
    const found = this.#postingsIn(segments, this.termsOf(unique))
    unique.forEach((word, at) => {
      for (const memtable of memtables) found[at]!.push(memtable.list(word))
    })
    const lists = unique.length === words.length ? found : words.map((word) => found[unique.indexOf(word)]!)
    this.#loaded = { words, segments, memtables, lastSize, views: [...segments, ...memtables], lists }
    return this.#loaded
  }

  /** 0 for a word in no segment. */
  termsOf(words: readonly string[]): number[] {
    const terms = words.map((word) => this.words.get(word))
    const unknown = words.filter((_, at) => terms[at] === undefined)
    const read = unknown.length === 0 ? undefined : this.tables.termsOf(unknown)
    for (const word of unknown) this.words.set(word, read?.get(word) ?? 0)
    return words.map((word, at) => terms[at] ?? read?.get(word) ?? 0)
  }

  #postingsIn(segments: readonly Segment[], terms: number[]): (PostingList | undefined)[][] {
    const missing: { term: number; at: number; segment: number }[] = []
    const found = terms.map((term, at) => {
      const known = this.postingLists.of(term)
      return segments.map((segment, index) => {
        const list = term !== 0 && segment.hasTerm(term) ? known?.get(segment) : null
        if (list === undefined) missing.push({ term, at, segment: index })
        return list ?? undefined
      })
    })
    if (missing.length === 0) return found
    const read = this.tables.postings(
      missing.map(({ term, segment }) => ({ segment: segments[segment]!.number, row: segments[segment]!.rowOf(term) })),
    )
    const lists = this.postingLists.put(
      missing.map(({ term, segment }, index) => ({ term, segment: segments[segment]!, bytes: read[index] })),
    )
    for (const [index, { at, segment }] of missing.entries()) found[at]![segment] = lists[index] ?? undefined
    return found
  }
}

interface Loaded {
  words: readonly string[]
  segments: readonly Segment[]
  memtables: readonly Memtable[]
  lastSize: number
  views: readonly View[]
  lists: readonly (readonly (PostingList | undefined)[])[]
}

function tombstonesOf({ number, docs }: Segment): TombstonesRow {
  return { segment: number, removed: docs.removed, hidden: docs.hidden }
}

/** Numbers for session ids, which take less space. */
class Sessions {
  readonly #ids: (string | undefined)[] = []
  readonly #numbers = new Map<string, number>()
  #unwritten: SessionRow[] = []

  /** The largest number plus 1. */
  get end(): number {
    return this.#ids.length
  }

  restore(rows: readonly SessionRow[]): void {
    for (const { number, id } of rows) {
      this.#ids[number] = id
      this.#numbers.set(id, number)
    }
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id)
  }

  numberFor(id: string): number {
    const known = this.#numbers.get(id)
    if (known !== undefined) return known
    const number = this.#ids.push(id) - 1
    this.#numbers.set(id, number)
    this.#unwritten.push({ number, id })
    return number
  }

  idOf(number: number): string {
    return this.#ids[number]!
  }

  unwritten(): SessionRow[] {
    return [...this.#unwritten]
  }

  written(rows: readonly SessionRow[]): void {
    this.#unwritten = this.#unwritten.filter((row) => !rows.includes(row))
  }

  forget(numbers: readonly number[]): void {
    for (const number of numbers) {
      this.#numbers.delete(this.#ids[number]!)
      this.#ids[number] = undefined
    }
  }

  numbers(): number[] {
    return [...this.#numbers.values()]
  }
}
