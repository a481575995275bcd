import { CountsWriter } from "./counts.ts"
import { damaged, encodePostings, type PostingList, postingsOf } from "./posting-list.ts"

/** Longer posting lists have a row of their own; shorter ones share a posting page with neighbouring terms. */
const MOST_PAGED = 32
/** Terms per posting page. */
const TERMS = 64
/** A page is followed by the rows of its terms. */
const ROWS = TERMS + 1

/** The first byte of a page; that of a posting list is its layout. */
const PAGE = 0
/** A flag beside the term's place: one posting, so no count follows. */
const SINGLE = 64

/** Rows are numbered from 1. */
export const pageOf = (term: number) => Math.floor(term / TERMS) * ROWS + 1
export const rowOf = (term: number) => pageOf(term) + 1 + (term % TERMS)
/** The row that has a term's posting list. */
export const rowFor = (term: number, isPaged: boolean) => (isPaged ? pageOf(term) : rowOf(term))
export const isPaged = (count: number) => count <= MOST_PAGED
export const isPageRow = (row: number) => row % ROWS === 1
/** The term of a row that is not a page. */
export const termOf = (row: number) => Math.floor((row - 1) / ROWS) * TERMS + ((row - 2) % ROWS)
export const firstTermOf = (pageRow: number) => Math.floor((pageRow - 1) / ROWS) * TERMS

export interface PostingRow {
  row: number
  bytes: Uint8Array
}

/** Encodes posting lists, added by ascending term, into rows. */
export class RowWriter {
  rows: PostingRow[] = []
  /** Posting lists and bytes since the last `take`. */
  lists = 0
  bytes = 0
  readonly #counts = new CountsWriter()
  readonly #size: number
  #pageRow = 0
  #page = new Uint8Array(4096)
  #end = 1

  constructor(size: number) {
    this.#size = size
  }

  /** Postings are document << 8 | impact, ascending. */
  add(term: number, postings: Uint32Array): void {
    if (pageOf(term) !== this.#pageRow) this.#closePage()
    this.#pageRow = pageOf(term)
    this.lists++
    this.#counts.add(term, postings.length)
    if (isPaged(postings.length)) this.#append(term % TERMS, postings)
    else this.#push({ row: rowOf(term), bytes: encodePostings(postings, this.#size) })
  }

  /** After the last posting list. Returns the rows of counts, which end a segment. */
  finish(): PostingRow[] {
    this.#closePage()
    this.#counts.finish()
    for (const row of this.#counts.rows) this.#push(row)
    return this.#counts.rows
  }

  take(): PostingRow[] {
    const { rows } = this
    this.rows = []
    this.lists = 0
    this.bytes = 0
    return rows
  }

  #closePage(): void {
    if (this.#end > 1) this.#push({ row: this.#pageRow, bytes: this.#page.slice(0, this.#end) })
    this.#end = 1
  }

  #push(row: PostingRow): void {
    this.rows.push(row)
    this.bytes += row.bytes.length
  }

  #append(place: number, postings: Uint32Array): void {
    const count = postings.length
    if (this.#end + 2 + count * 6 > this.#page.length) {
      const grown = new Uint8Array(this.#page.length * 2)
      grown.set(this.#page)
      this.#page = grown
    }
    const page = this.#page
    let at = this.#end
    page[at++] = count === 1 ? place | SINGLE : place
    if (count > 1) page[at++] = count
    let before = 0
    for (const posting of postings) {
      let gap = (posting >>> 8) - before
      before = posting >>> 8
      for (; gap > 127; gap >>>= 7) page[at++] = (gap & 127) | 128
      page[at++] = gap
    }
    for (const posting of postings) page[at++] = posting & 255
    this.#end = at
  }
}

export const isPage = (bytes: Uint8Array) => bytes[0] === PAGE

/** Iterates over the posting lists of a page. */
export class PostingPageReader {
  /** Infinity after the last. */
  term = Number.POSITIVE_INFINITY
  count = 0
  readonly docs = new Uint32Array(MOST_PAGED)
  readonly impacts = new Uint8Array(MOST_PAGED)
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #first = 0

  open(bytes: Uint8Array, pageRow: number): void {
    this.#bytes = bytes
    this.#at = 1
    this.#first = firstTermOf(pageRow)
    this.next()
  }

  next(): void {
    const bytes = this.#bytes
    if (this.#at >= bytes.length) {
      this.term = Number.POSITIVE_INFINITY
      return
    }
    let at = this.#at
    const head = bytes[at++]!
    const count = (head & SINGLE) !== 0 ? 1 : bytes[at++]!
    if (count === 0 || count > MOST_PAGED || head >= SINGLE * 2) throw damaged()
    this.term = this.#first + (head & (TERMS - 1))
    this.count = count
    let doc = 0
    for (let posting = 0; posting < count; posting++) {
      let gap = 0
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]
        if (byte === undefined) throw damaged()
        gap |= (byte & 127) << shift
        if (byte < 128) break
      }
      doc += gap
      this.docs[posting] = doc
    }
    if (at + count > bytes.length) throw damaged()
    for (let posting = 0; posting < count; posting++) this.impacts[posting] = bytes[at++]!
    this.#at = at
  }
}

const reader = new PostingPageReader()

/** Null if the page does not have the term. */
export function postingsInPage(page: Uint8Array, term: number, size: number): PostingList | null {
  reader.open(page, pageOf(term))
  while (reader.term < term) reader.next()
  if (reader.term !== term) return null
  return postingsOf(reader.docs.slice(0, reader.count), reader.impacts.slice(0, reader.count), size)
}
