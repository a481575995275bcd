import type { Term } from "../../domain/index-tables.ts"
import { eachCount } from "./counts.ts"
import type { Delta } from "./delta.ts"
import { Docs } from "./docs.ts"
import { type ListRow, RowWriter } from "./pack.ts"
import { Segment } from "./segment.ts"
import type { Shelf } from "./shelf.ts"

/** Words that are looked up and numbered in one slice: more would hold up a search that waits for the thread. */
export const SLICE_WORDS = 128
/** Lists that are written in one slice, and their bytes. */
const SLICE_LISTS = 512
const SLICE_BYTES = 256 * 1024

export const isSlice = ({ lists, bytes }: RowWriter) => lists >= SLICE_LISTS || bytes >= SLICE_BYTES

/**
 * Writes a delta as a segment. Every `yield` ends a slice, and a slice is one transaction. The segment is there when its
 * row is, and with it the journal's number moves; before that, all that is written is nobody's.
 */
export async function* flush(shelf: Shelf, delta: Delta): AsyncGenerator<void, void> {
  const order = liveByRef(delta.docs)
  const number = shelf.reserveNumber()
  try {
    const { counts, words, terms } = order.length > 0 ? yield* writeLists(shelf, delta, order, number) : NOTHING
    const docs = new Docs(order.length)
    for (const [at, doc] of order.entries()) {
      docs.pushFrom(delta.docs, doc)
      docs.markLike(at, delta.docs, doc)
    }
    const segment = new Segment(number, docs, shelf.nextTerm)
    await shelf.commit(order.length > 0 ? [segment] : [], { meta: { position: String(delta.position) } })
    shelf.deltas = shelf.deltas.filter((other) => other !== delta)
    if (order.length > 0) shelf.replaceSegments([], [segment])
    for (const { bytes } of counts)
      eachCount(bytes, (term, count) => {
        shelf.counts.add(term, count)
        segment.learnTerm(term, count)
      })
    words.forEach((word, at) => {
      shelf.common.add(word, terms[at]!)
    })
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

interface Written {
  /** Rows of counts. */
  counts: ListRow[]
  words: string[]
  terms: number[]
}
const NOTHING: Written = { counts: [], words: [], terms: [] }

async function* writeLists(
  shelf: Shelf,
  delta: Delta,
  order: number[],
  segment: number,
): AsyncGenerator<void, Written> {
  const newDoc = new Int32Array(delta.docs.size).fill(-1)
  order.forEach((doc, at) => {
    newDoc[doc] = at
  })
  const words: string[] = []
  const terms: number[] = []
  const lists: number[][] = []
  // Never all at once: there may be a hundred thousand of them.
  for (const entries = delta.words.entries(); ; ) {
    const some = entries.take(SLICE_WORDS).toArray()
    if (some.length === 0) break
    const live = some.filter(([, postings]) => postings.some((posting) => newDoc[posting >> 8]! >= 0))
    const own = live.map(([word]) => word)
    words.push(...own)
    terms.push(...(await numberWords(shelf, own)))
    lists.push(...live.map(([, postings]) => postings))
    yield
  }
  const writer = new RowWriter(order.length)
  const write = () => shelf.tables.write({ lists: writer.take().map((row) => ({ segment, ...row })) })
  const live = new Uint32Array(order.length)
  for (const at of byNumber(terms)) {
    let count = 0
    for (const posting of lists[at]!) {
      const doc = newDoc[posting >> 8]!
      if (doc >= 0) live[count++] = (doc << 8) | (posting & 255)
    }
    writer.add(terms[at]!, ascending(live, count))
    if (!isSlice(writer)) continue
    await write()
    yield
  }
  const counts = writer.finish()
  await write()
  yield
  return { counts, words, terms }
}

const PLACE = 2 ** 22

/** Places by the terms in them, so that rows go to the end of their table. As numbers, which sort faster than objects. */
function byNumber(terms: number[]): Uint32Array {
  return Uint32Array.from(Float64Array.from(terms, (term, at) => term * PLACE + at).sort(), (packed) => packed % PLACE)
}

/** New words get the next numbers, and are in the dictionary before a list names them. */
async function numberWords(shelf: Shelf, words: string[]): Promise<number[]> {
  const terms = await shelf.termsOf(words)
  const added: Term[] = []
  words.forEach((word, at) => {
    if (terms[at] !== 0) return
    const term = shelf.nextTerm++
    terms[at] = term
    added.push({ word, term })
  })
  if (added.length > 0) await shelf.tables.write({ terms: added, meta: { terms: String(shelf.nextTerm - 1) } })
  for (const { word, term } of added) shelf.words.set(word, term)
  return terms
}

/** Postings of document << 8 | impact, in any order. */
export function ascending(postings: Uint32Array, count: number): Uint32Array {
  const ordered = postings.subarray(0, count)
  for (let at = 1; at < count; at++) {
    if (ordered[at]! > ordered[at - 1]!) continue
    ordered.sort()
    break
  }
  return ordered
}
