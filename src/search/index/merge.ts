import type { IndexTables } from "../../domain/index-tables.ts"
import { eachCount, FIRST_COUNTS_ROW } from "./counts.ts"
import { Docs } from "./docs.ts"
import { ascending, isBatchFull } from "./flush.ts"
import type { IndexState } from "./index-state.ts"
import { decodePostings, someDoc } from "./posting-list.ts"
import { isPageRow, PostingPageReader, type PostingRow, RowWriter, termOf } from "./posting-page.ts"
import { MAX_SEGMENT_DOCS, Segment } from "./segment.ts"

/** Tiered merges: how many segments of which size become one. */
const LEVELS = [
  { upTo: 512, fanOut: 8 },
  { upTo: 4_096, fanOut: 4 },
  { upTo: 16_384, fanOut: 4 },
  { upTo: 65_536, fanOut: 4 },
  { upTo: 131_072, fanOut: 2 },
]
/** Rows per read from each segment of a merge, and roughly their bytes. */
const READ_ROWS = 64
const READ_BYTES = 512 * 1024
/** Rows deleted per batch. */
const DROPPED_ROWS = 256

/** The segments to merge next: enough of one size, or one whose documents are mostly removed. */
export function plannedMerge(segments: readonly Segment[]): Segment[] | undefined {
  const wasted = segments.find(({ docs }) => docs.removedCount > docs.size / 2)
  if (wasted) return [wasted]
  let from = 0
  for (const { upTo, fanOut } of LEVELS) {
    const level = segments.filter(({ live }) => live > from && live <= upTo).sort((a, b) => a.live - b.live)
    from = upTo
    const fitting: Segment[] = []
    let size = 0
    for (const segment of level) {
      if (fitting.length === fanOut || size + segment.live > MAX_SEGMENT_DOCS) break
      fitting.push(segment)
      size += segment.live
    }
    if (fitting.length === fanOut) return fitting
  }
  return undefined
}

/** Writes the live documents of some segments as one. In batches and crash-safe, like a flush. */
export function* merge(state: IndexState, planned: readonly Segment[]): Generator<void, void> {
  // By first ref, so that merged posting lists are mostly sorted already.
  const sources = planned.toSorted((a, b) => a.docs.ref[0]! - b.docs.ref[0]!)
  const number = state.reserveNumber()
  try {
    const places = liveByRef(sources)
    yield
    const { lost, counts } = yield* mergePostings(state, sources, places, number)
    const docs = new Docs(places.length)
    for (const place of places) docs.pushFrom(sources[sourceOf(place)]!.docs, docOf(place))
    yield
    // Last, because documents may be removed or hidden while the merge runs.
    places.forEach((place, doc) => {
      docs.copyTombstones(doc, sources[sourceOf(place)]!.docs, docOf(place))
    })
    const merged = places.length > 0 ? [new Segment(number, docs, state.nextTerm)] : []
    for (const segment of merged)
      for (const { bytes } of counts) eachCount(bytes, (term, count) => segment.learnTerm(term, count))
    state.commit(merged, { retired: sources.map((source) => source.number) }, sources)
    state.toDrop.push(...sources.map((source) => source.number))
    state.replaceSegments(sources, merged)
    for (const { term, docs } of lost) state.counts.add(term, -docs)
  } catch (error) {
    state.toDrop.push(number)
    throw error
  } finally {
    state.release(number)
  }
}

/** Deletes the postings of a segment that has no row. */
export function* drop(state: IndexState, segment: number): Generator<void, void> {
  while (state.tables.dropPostings(segment, DROPPED_ROWS)) yield
  state.toDrop = state.toDrop.filter((other) => other !== segment)
}

/** A ref of 32 bits and a place must fit a number together. */
const PLACE = MAX_SEGMENT_DOCS * 8
const placeOf = (source: number, doc: number) => source * MAX_SEGMENT_DOCS + doc
const sourceOf = (place: number) => Math.floor(place / MAX_SEGMENT_DOCS)
const docOf = (place: number) => place % MAX_SEGMENT_DOCS

/** The places of all live documents, by ref. */
function liveByRef(sources: readonly Segment[]): Uint32Array {
  const order = new Float64Array(sources.reduce((sum, { live }) => sum + live, 0))
  let at = 0
  sources.forEach(({ docs }, source) => {
    for (let doc = 0; doc < docs.size; doc++)
      if (!docs.isRemoved(doc)) order[at++] = docs.ref[doc]! * PLACE + placeOf(source, doc)
  })
  return Uint32Array.from(order.sort(), (packed) => packed % PLACE)
}

/** Returns the rows of counts, and by how much the frequency of each term of removed documents falls. */
function* mergePostings(
  state: IndexState,
  sources: readonly Segment[],
  places: Uint32Array,
  segment: number,
): Generator<void, { lost: { term: number; docs: number }[]; counts: PostingRow[] }> {
  const newDocs = sources.map(({ docs }) => new Int32Array(docs.size).fill(-1))
  places.forEach((place, doc) => {
    newDocs[sourceOf(place)]![docOf(place)] = doc
  })
  const cursors = sources.map((source, at) => new Cursor(state.tables, source, newDocs[at]!))
  const postings = new Uint32Array(places.length)
  const writer = new RowWriter(places.length)
  const lost: { term: number; docs: number }[] = []
  const write = () => state.tables.write({ postings: writer.take().map((row) => ({ segment, ...row })) })
  for (;;) {
    let term = Number.POSITIVE_INFINITY
    for (const cursor of cursors) {
      if (cursor.isEmpty) cursor.fill()
      term = Math.min(term, cursor.term)
    }
    if (term === Number.POSITIVE_INFINITY) break
    let count = 0
    let before = 0
    for (const cursor of cursors) {
      if (cursor.term !== term) continue
      count = cursor.take(postings, count)
      before += cursor.taken
    }
    if (count > 0) writer.add(term, ascending(postings, count))
    if (count < before) lost.push({ term, docs: before - count })
    if (!isBatchFull(writer)) continue
    write()
    yield
  }
  const counts = writer.finish()
  write()
  yield
  return { lost, counts }
}

/** Iterates over the posting lists of one source. */
class Cursor {
  /** Infinity after the last. */
  term = 0
  /** The next posting list is unknown until `fill`. */
  isEmpty = true
  /** The length of the last posting list, including removed documents. */
  taken = 0
  readonly #tables: IndexTables
  readonly #source: Segment
  readonly #newDocs: Int32Array
  readonly #page = new PostingPageReader()
  #rows: PostingRow[] = []
  #at = 0
  #last = 0
  #readRows = READ_ROWS
  #isAtEnd = false

  constructor(tables: IndexTables, source: Segment, newDocs: Int32Array) {
    this.#tables = tables
    this.#source = source
    this.#newDocs = newDocs
  }

  fill(): void {
    for (;;) {
      if (this.#at === this.#rows.length && !this.#isAtEnd) this.#read()
      const next = this.#rows[this.#at]
      const isNextPage = next !== undefined && isPageRow(next.row)
      const own = next && !isNextPage ? termOf(next.row) : Number.POSITIVE_INFINITY
      this.term = Math.min(this.#page.term, own)
      this.isEmpty = this.term === Number.POSITIVE_INFINITY && isNextPage
      if (!this.isEmpty) return
      this.#page.open(next!.bytes, next!.row)
      this.#at++
    }
  }

  /** Appends the live postings under their new document numbers. */
  take(postings: Uint32Array, already: number): number {
    let total = already
    const add = (doc: number, impact: number) => {
      const newDoc = this.#newDocs[doc]!
      if (newDoc >= 0) postings[total++] = (newDoc << 8) | impact
      return false
    }
    if (this.#page.term === this.term) {
      const { count, docs, impacts } = this.#page
      for (let at = 0; at < count; at++) add(docs[at]!, impacts[at]!)
      this.taken = count
      this.#page.next()
    } else {
      const list = decodePostings(this.#rows[this.#at++]!.bytes, this.#source.docs.size)
      someDoc(list, add)
      this.taken = list.count
    }
    this.isEmpty = true
    return total
  }

  #read(): void {
    const rows = this.#tables.postingsAfter(this.#source.number, this.#last, this.#readRows)
    this.#rows = rows.filter(({ row }) => row < FIRST_COUNTS_ROW)
    this.#at = 0
    this.#isAtEnd = this.#rows.length === 0
    this.#last = this.#rows.at(-1)?.row ?? this.#last
    const bytes = this.#rows.reduce((sum, row) => sum + row.bytes.length, 1)
    // Neighbouring rows have similar sizes: low terms are common words.
    this.#readRows = Math.ceil(Math.min(READ_ROWS, this.#readRows * 2, (this.#rows.length * READ_BYTES) / bytes))
  }
}
