import type { IndexChange, TermRow } from "../../domain/index-tables.ts"
import type { Delta } from "./delta.ts"
import { Docs } from "./docs.ts"
import { encodeList } from "./list.ts"
import { Segment } from "./segment.ts"
import type { Shelf } from "./shelf.ts"

/** Rows of one slice, and their bytes: more would hold up a search that waits for the thread. */
export const SLICE_ROWS = 128
const SLICE_BYTES = 256 * 1024

/**
 * Writes a delta as a segment. Every `yield` ends a slice, and a slice is one transaction. The segment is there when its
 * row is, and with it the journal's number moves; before that, all that is written is nobody's.
 */
export async function* flush(shelf: Shelf, delta: Delta): AsyncGenerator<void, void> {
  const order = liveByRef(delta.docs)
  const number = shelf.reserveNumber()
  try {
    if (order.length > 0) yield* writeLists(shelf, delta, order, number)
    const docs = new Docs(order.length)
    for (const [at, doc] of order.entries()) {
      docs.pushFrom(delta.docs, doc)
      docs.markLike(at, delta.docs, doc)
    }
    const segment = new Segment(number, docs)
    await shelf.commit(order.length > 0 ? [segment] : [], { meta: { position: String(delta.position) } })
    shelf.deltas = shelf.deltas.filter((other) => other !== delta)
    if (order.length > 0) shelf.replaceSegments([], [segment])
  } catch (error) {
    shelf.toDrop.push(number)
    throw error
  } finally {
    shelf.release(number)
  }
}

function liveByRef(docs: Docs): number[] {
  const live: number[] = []
  for (let doc = 0; doc < docs.size; doc++) if (!docs.isRemoved(doc)) live.push(doc)
  return live.sort((a, b) => docs.ref[a]! - docs.ref[b]!)
}

async function* writeLists(shelf: Shelf, delta: Delta, order: number[], segment: number): AsyncGenerator<void, void> {
  const newDoc = new Int32Array(delta.docs.size).fill(-1)
  order.forEach((doc, at) => {
    newDoc[doc] = at
  })
  const terms: number[] = []
  const lists: number[][] = []
  // Never all at once: there may be a hundred thousand of them.
  for (const words = delta.words.entries(); ; ) {
    const some = words.take(SLICE_ROWS).toArray()
    if (some.length === 0) break
    const live = some.filter(([, postings]) => postings.some((posting) => newDoc[posting >> 8]! >= 0))
    terms.push(...(await numberWords(shelf, live)))
    lists.push(...live.map(([, postings]) => postings))
    yield
  }
  let slice = new Slice()
  const live = new Uint32Array(order.length)
  for (const at of byNumber(terms)) {
    let count = 0
    for (const posting of lists[at]!) {
      const doc = newDoc[posting >> 8]!
      if (doc >= 0) live[count++] = (doc << 8) | (posting & 255)
    }
    slice.add({ segment, term: terms[at]!, bytes: encodePostings(live, count, order.length) })
    if (!slice.isFull) continue
    await shelf.tables.write({ lists: slice.lists })
    slice = new Slice()
    yield
  }
  await shelf.tables.write({ lists: slice.lists })
  yield
}

const PLACE = 2 ** 22

/** Places by the terms in them, so that rows go to the end of their table. As numbers, which sort faster than objects. */
function byNumber(terms: number[]): Uint32Array {
  return Uint32Array.from(Float64Array.from(terms, (term, at) => term * PLACE + at).sort(), (packed) => packed % PLACE)
}

/** New words get the next numbers, and are in the dictionary before a list names them. */
async function numberWords(shelf: Shelf, words: [string, number[]][]): Promise<number[]> {
  const terms = await shelf.termsOf(words.map(([word]) => word))
  const added: TermRow[] = []
  words.forEach(([word, postings], at) => {
    if (terms[at] !== 0) return
    terms[at] = shelf.nextTerm++
    added.push({ word, term: terms[at]!, docs: postings.length })
  })
  if (added.length > 0) await shelf.tables.write({ terms: added })
  for (const { word, term } of added) shelf.words.set(word, term)
  return terms
}

/** Postings of document << 8 | impact, in any order. */
export function encodePostings(postings: Uint32Array, count: number, size: number): Uint8Array {
  const ordered = postings.subarray(0, count)
  for (let at = 1; at < count; at++) {
    if (ordered[at]! > ordered[at - 1]!) continue
    ordered.sort()
    break
  }
  return encodeList(ordered, size)
}

export class Slice {
  readonly lists: NonNullable<IndexChange["lists"]> = []
  #bytes = 0

  add(list: (typeof this.lists)[number]): void {
    this.lists.push(list)
    this.#bytes += list.bytes.length
  }

  get isFull(): boolean {
    return this.lists.length >= SLICE_ROWS || this.#bytes >= SLICE_BYTES
  }
}
