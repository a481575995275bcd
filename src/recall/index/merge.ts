import type { IndexTables } from "../../domain/index-tables.ts"
import { Docs } from "./docs.ts"
import { encodePostings, SLICE_ROWS, Slice } from "./flush.ts"
import { decodeList } from "./list.ts"
import { Segment } from "./segment.ts"
import type { Shelf } from "./shelf.ts"

export const MAX_SEGMENT_DOCS = 65_536
/** How many segments of which size become one. */
const LEVELS = [
  { upTo: 512, fanOut: 8 },
  { upTo: 4_096, fanOut: 4 },
  { upTo: 16_384, fanOut: 4 },
  { upTo: 32_768, fanOut: 2 },
]
/** Rows that are read at once from each segment of a merge. */
const READ_ROWS = 64
/** A frequency is worth a write from here on, and again when it has doubled. */
const FREQUENT_DOCS = 32

/** What should become one segment: as many of one size as make the next, or one that is mostly removed. */
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

/** Writes one segment of the documents that are left of some. In slices, like a flush; the same rule says when it is there. */
export async function* merge(shelf: Shelf, sources: readonly Segment[]): AsyncGenerator<void, void> {
  const number = shelf.reserveNumber()
  try {
    const places = liveByRef(sources)
    yield
    if (places.length > 0) yield* mergeLists(shelf, sources, places, number)
    const docs = new Docs(places.length)
    for (const place of places) docs.pushFrom(sources[place >> 16]!.docs, place & 0xffff)
    yield
    // Last of all, because documents may be removed or hidden as long as this is not the segment that they are in.
    places.forEach((place, doc) => {
      docs.markLike(doc, sources[place >> 16]!.docs, place & 0xffff)
    })
    const merged = places.length > 0 ? [new Segment(number, docs)] : []
    await shelf.commit(merged, { retired: sources.map((source) => source.number) }, sources)
    shelf.toDrop.push(...sources.map((source) => source.number))
    shelf.replaceSegments(sources, merged)
  } catch (error) {
    shelf.toDrop.push(number)
    throw error
  } finally {
    shelf.release(number)
  }
}

/** Deletes the lists of a segment that is not listed. */
export async function* drop(tables: IndexTables, segment: number): AsyncGenerator<void, void> {
  for (;;) {
    const terms = await tables.termsOfSegmentAfter(segment, 0, SLICE_ROWS * 2)
    if (terms.length === 0) return
    await tables.write({ droppedLists: { segment, term: terms.at(-1)! } })
    yield
  }
}

const PLACE = 2 ** 20

/** source << 16 | document of all that are left, in the order of their refs. */
function liveByRef(sources: readonly Segment[]): Uint32Array {
  const order = new Float64Array(sources.reduce((sum, { live }) => sum + live, 0))
  let at = 0
  sources.forEach(({ docs }, source) => {
    for (let doc = 0; doc < docs.size; doc++)
      if (!docs.isRemoved(doc)) order[at++] = docs.ref[doc]! * PLACE + ((source << 16) | doc)
  })
  return Uint32Array.from(order.sort(), (packed) => packed % PLACE)
}

async function* mergeLists(
  shelf: Shelf,
  sources: readonly Segment[],
  places: Uint32Array,
  segment: number,
): AsyncGenerator<void, void> {
  const newDocs = sources.map(({ docs }) => new Int32Array(docs.size).fill(-1))
  places.forEach((place, doc) => {
    newDocs[place >> 16]![place & 0xffff] = doc
  })
  const cursors = sources.map((source, at) => new Cursor(shelf.tables, source, newDocs[at]!))
  const postings = new Uint32Array(places.length)
  let slice = new Slice()
  let frequencies: { term: number; docs: number }[] = []
  for (;;) {
    for (const cursor of cursors) await cursor.fill()
    const term = Math.min(...cursors.map((cursor) => cursor.term))
    if (term !== Number.POSITIVE_INFINITY) {
      let count = 0
      for (const cursor of cursors) if (cursor.term === term) count = cursor.take(postings, count)
      if (count > 0) slice.add({ segment, term, bytes: encodePostings(postings, count, places.length) })
      if (count >= FREQUENT_DOCS) frequencies.push({ term, docs: count })
      if (!slice.isFull) continue
    }
    await shelf.tables.write({ lists: slice.lists, frequencies })
    yield
    if (term === Number.POSITIVE_INFINITY) return
    slice = new Slice()
    frequencies = []
  }
}

/** The lists of one source, one after the other. */
class Cursor {
  readonly #tables: IndexTables
  readonly #source: Segment
  readonly #newDocs: Int32Array
  #rows: { term: number; bytes: Uint8Array }[] = []
  #at = 0
  #last = 0
  #isAtEnd = false

  constructor(tables: IndexTables, source: Segment, newDocs: Int32Array) {
    this.#tables = tables
    this.#source = source
    this.#newDocs = newDocs
  }

  get term(): number {
    return this.#rows[this.#at]?.term ?? Number.POSITIVE_INFINITY
  }

  async fill(): Promise<void> {
    if (this.#at < this.#rows.length || this.#isAtEnd) return
    this.#rows = await this.#tables.listsAfter(this.#source.number, this.#last, READ_ROWS)
    this.#at = 0
    this.#isAtEnd = this.#rows.length === 0
    this.#last = this.#rows.at(-1)?.term ?? this.#last
  }

  /** Appends what is left of the list, under the new documents' numbers. */
  take(postings: Uint32Array, already: number): number {
    const { docs, impacts, count } = decodeList(this.#rows[this.#at++]!.bytes, this.#source.docs.size)
    let total = already
    for (let at = 0; at < (docs ? count : impacts.length); at++) {
      if (impacts[at] === 0) continue
      const doc = this.#newDocs[docs ? docs[at]! : at]!
      if (doc >= 0) postings[total++] = (doc << 8) | impacts[at]!
    }
    return total
  }
}
