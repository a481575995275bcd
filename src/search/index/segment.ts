import { type Docs, isSet } from "./docs.ts"
import { lowerBound, placeIn } from "./posting-list.ts"
import { isPaged, rowFor } from "./posting-page.ts"

/** Fewer segments mean fewer reads per search, but forgetting rewrites whole segments. */
export const MAX_SEGMENT_DOCS = 2 ** 18

/** Written documents, sorted by ref. Immutable except for its tombstones. */
export class Segment {
  readonly number: number
  readonly docs: Docs
  /** Tombstones in memory only. */
  hasNewTombstones = false
  /** Terms of the segment, so that absent ones are never read. */
  readonly #terms: Uint8Array
  /** Terms whose posting list is in a page. */
  readonly #paged: Uint8Array
  #sessions: BySession | undefined

  /** For terms below `endTerm`. */
  constructor(number: number, docs: Docs, endTerm: number) {
    this.number = number
    this.docs = docs
    this.#terms = new Uint8Array((endTerm >> 3) + 1)
    this.#paged = new Uint8Array(this.#terms.length)
  }

  hasTerm(term: number): boolean {
    return isSet(this.#terms, term)
  }

  learnTerm(term: number, count: number): void {
    this.#terms[term >> 3]! |= 1 << (term & 7)
    if (isPaged(count)) this.#paged[term >> 3]! |= 1 << (term & 7)
  }

  /** The row that has its posting list. */
  rowOf(term: number): number {
    return rowFor(term, isSet(this.#paged, term))
  }

  get live(): number {
    return this.docs.size - this.docs.removedCount
  }

  /** -1 if it is absent or removed. */
  find(ref: number): number {
    const doc = placeOf(this.docs.ref, ref, this.docs.size)
    return doc >= 0 && this.docs.isRemoved(doc) ? -1 : doc
  }

  /** Ascending. */
  docsOfSession(session: number): Uint32Array {
    const { sessions, docs, starts } = this.#bySession
    const place = placeOf(sessions, session)
    return place < 0 ? NONE : docs.subarray(starts[place]!, starts[place + 1]!)
  }

  /** Ascending. */
  docsOfExchange(session: number, exchange: number): Uint32Array {
    const { sessions, docs, starts, isSorted } = this.#bySession
    const place = placeOf(sessions, session)
    if (place < 0) return NONE
    const { exchange: exchanges } = this.docs
    if (!isSorted[place]) return this.docsOfSession(session).filter((doc) => exchanges[doc] === exchange)
    const from = lowerBound(starts[place]!, starts[place + 1]!, (at) => exchanges[docs[at]!]! < exchange)
    let to = from
    while (to < starts[place + 1]! && exchanges[docs[to]!] === exchange) to++
    return from === to ? NONE : docs.subarray(from, to)
  }

  get #bySession(): BySession {
    this.#sessions ??= bySession(this.docs)
    return this.#sessions
  }
}

/** -1 if absent, as in most segments. */
function placeOf(sorted: Uint32Array, wanted: number, end = sorted.length): number {
  if (wanted < sorted[0]! || wanted > sorted[end - 1]!) return -1
  return placeIn(sorted, wanted, 0, end)
}

const NONE = new Uint32Array(0)

interface BySession {
  sessions: Uint32Array
  starts: Uint32Array
  docs: Uint32Array
  /** Whether the exchanges of a session are in order. */
  isSorted: Uint8Array
}

/** Counting sort: the first search in a session does this for every segment. */
function bySession({ session, exchange, size }: Docs): BySession {
  const last = session.subarray(0, size).reduce((largest, number) => Math.max(largest, number), 0)
  const next = new Uint32Array(last + 1)
  for (let doc = 0; doc < size; doc++) next[session[doc]!]!++
  const sessions: number[] = []
  const starts = [0]
  next.forEach((count, number) => {
    const start = starts.at(-1)!
    next[number] = start
    if (count === 0) return
    sessions.push(number)
    starts.push(start + count)
  })
  const docs = new Uint32Array(size)
  for (let doc = 0; doc < size; doc++) docs[next[session[doc]!]!++] = doc
  const isSorted = Uint8Array.from(sessions, (_, place) => {
    for (let at = starts[place]! + 1; at < starts[place + 1]!; at++)
      if (exchange[docs[at]!]! < exchange[docs[at - 1]!]!) return 0
    return 1
  })
  return { sessions: Uint32Array.from(sessions), starts: Uint32Array.from(starts), docs, isSorted }
}
