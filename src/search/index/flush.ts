import type { Term } from "../../domain/index-tables.ts"
import { eachCount } from "./counts.ts"
import { Docs } from "./docs.ts"
import type { IndexState } from "./index-state.ts"
import type { Memtable } from "./memtable.ts"
import { type PostingRow, RowWriter } from "./posting-page.ts"
import { Segment } from "./segment.ts"

/** Words looked up and numbered per batch; more would delay a search that waits for the thread. */
export const BATCH_WORDS = 128
/** Posting lists written per batch, and their bytes. */
const BATCH_LISTS = 512
const BATCH_BYTES = 256 * 1024

export const isBatchFull = ({ lists, bytes }: RowWriter) => lists >= BATCH_LISTS || bytes >= BATCH_BYTES

/**
 * Writes a memtable as a segment. Every `yield` ends a batch, which is one transaction. The last one adds the segment's row
 * and moves the position; without that row, its postings are orphans, dropped at the next start.
 */
export function* flush(state: IndexState, memtable: Memtable): Generator<void, void> {
  const order = liveByRef(memtable.docs)
  const number = state.reserveNumber()
  try {
    const { counts, words, terms } = order.length > 0 ? yield* writePostings(state, memtable, order, number) : NOTHING
    const docs = new Docs(order.length)
    for (const [at, doc] of order.entries()) {
      docs.pushFrom(memtable.docs, doc)
      docs.copyTombstones(at, memtable.docs, doc)
    }
    const segment = new Segment(number, docs, state.nextTerm)
    state.commit(order.length > 0 ? [segment] : [], { meta: { position: String(memtable.position) } })
    state.memtables = state.memtables.filter((other) => other !== memtable)
    if (order.length > 0) state.replaceSegments([], [segment])
    for (const { bytes } of counts)
      eachCount(bytes, (term, count) => {
        state.counts.add(term, count)
        segment.learnTerm(term, count)
      })
    words.forEach((word, at) => {
      state.common.add(word, terms[at]!)
    })
  } catch (error) {
    state.toDrop.push(number)
    throw error
  } finally {
    state.release(number)
  }
}

function liveByRef(docs: Docs): number[] {
  const live: number[] = []
  for (let doc = 0; doc < docs.size; doc++) if (!docs.isRemoved(doc)) live.push(doc)
  return live.sort((a, b) => docs.ref[a]! - docs.ref[b]!)
}

interface Written {
  /** Rows of counts. */
  counts: PostingRow[]
  words: string[]
  terms: number[]
}
const NOTHING: Written = { counts: [], words: [], terms: [] }

function* writePostings(
  state: IndexState,
  memtable: Memtable,
  order: number[],
  segment: number,
): Generator<void, Written> {
  const newDoc = new Int32Array(memtable.docs.size).fill(-1)
  order.forEach((doc, at) => {
    newDoc[doc] = at
  })
  const words: string[] = []
  const terms: number[] = []
  const lists: number[][] = []
  // In batches: there may be a hundred thousand words.
  for (const entries = memtable.words.entries(); ; ) {
    const some = entries.take(BATCH_WORDS).toArray()
    if (some.length === 0) break
    const live = some.filter(([, postings]) => postings.some((posting) => newDoc[posting >> 8]! >= 0))
    const own = live.map(([word]) => word)
    words.push(...own)
    terms.push(...numberWords(state, own))
    lists.push(...live.map(([, postings]) => postings))
    yield
  }
  const writer = new RowWriter(order.length)
  const write = () => state.tables.write({ postings: writer.take().map((row) => ({ segment, ...row })) })
  const live = new Uint32Array(order.length)
  for (const at of byNumber(terms)) {
    let count = 0
    for (const posting of lists[at]!) {
      const doc = newDoc[posting >> 8]!
      if (doc >= 0) live[count++] = (doc << 8) | (posting & 255)
    }
    writer.add(terms[at]!, ascending(live, count))
    if (!isBatchFull(writer)) continue
    write()
    yield
  }
  const counts = writer.finish()
  write()
  yield
  return { counts, words, terms }
}

const PLACE = 2 ** 22

/** Indexes into `terms` by ascending term, so that rows are appended. Packed into numbers, which sort faster than objects. */
function byNumber(terms: number[]): Uint32Array {
  return Uint32Array.from(Float64Array.from(terms, (term, at) => term * PLACE + at).sort(), (packed) => packed % PLACE)
}

/** New words get the next terms, and are in the dictionary before a posting list refers to them. */
function numberWords(state: IndexState, words: string[]): number[] {
  const terms = state.termsOf(words)
  const added: Term[] = []
  words.forEach((word, at) => {
    if (terms[at] !== 0) return
    const term = state.nextTerm++
    terms[at] = term
    added.push({ word, term })
  })
  if (added.length > 0) state.tables.write({ terms: added, meta: { terms: String(state.nextTerm - 1) } })
  for (const { word, term } of added) state.words.set(word, term)
  return terms
}

/** Sorts postings (document << 8 | impact) unless they are sorted already. */
export function ascending(postings: Uint32Array, count: number): Uint32Array {
  const ordered = postings.subarray(0, count)
  for (let at = 1; at < count; at++) {
    if (ordered[at]! > ordered[at - 1]!) continue
    ordered.sort()
    break
  }
  return ordered
}
