import { CountsWriter } from "./counts.ts"
import { damaged, encodeList, type List, listOf } from "./list.ts"

/** A list of more postings than this is a row of its own; shorter ones share a row with those of the next words. */
const MOST_PACKED = 32
/** As many terms as share a row. */
const TERMS = 64
/** The pack of some terms comes before their own rows. */
const ROWS = TERMS + 1

/** What the first byte of a pack is; that of a list tells its kind. */
const PACK = 0
/** Beside the term's place: this list has one posting, so its count is not written. */
const SINGLE = 64

/** Numbers of rows begin with 1. */
export const packOf = (term: number) => Math.floor(term / TERMS) * ROWS + 1
export const rowOf = (term: number) => packOf(term) + 1 + (term % TERMS)
/** Where the list of a term of which a segment has so many postings is. */
export const rowFor = (term: number, isPacked: boolean) => (isPacked ? packOf(term) : rowOf(term))
export const isPacked = (count: number) => count <= MOST_PACKED
export const isPackRow = (row: number) => row % ROWS === 1
/** Of a row that is no pack. */
export const termOf = (row: number) => Math.floor((row - 1) / ROWS) * TERMS + ((row - 2) % ROWS)
export const firstTermOf = (packRow: number) => Math.floor((packRow - 1) / ROWS) * TERMS

export interface ListRow {
  row: number
  bytes: Uint8Array
}

/** Makes rows of lists that come by ascending term. */
export class RowWriter {
  rows: ListRow[] = []
  /** Lists and bytes since the rows were last taken. */
  lists = 0
  bytes = 0
  readonly #counts = new CountsWriter()
  readonly #size: number
  #packRow = 0
  #pack = new Uint8Array(4096)
  #end = 1

  constructor(size: number) {
    this.#size = size
  }

  /** Postings are document << 8 | impact, ascending. */
  add(term: number, postings: Uint32Array): void {
    if (packOf(term) !== this.#packRow) this.#closePack()
    this.#packRow = packOf(term)
    this.lists++
    this.#counts.add(term, postings.length)
    if (isPacked(postings.length)) this.#append(term % TERMS, postings)
    else this.#push({ row: rowOf(term), bytes: encodeList(postings, this.#size) })
  }

  /** After the last list. Gives the rows of counts, which are the last ones of a segment. */
  finish(): ListRow[] {
    this.#closePack()
    this.#counts.finish()
    for (const row of this.#counts.rows) this.#push(row)
    return this.#counts.rows
  }

  take(): ListRow[] {
    const { rows } = this
    this.rows = []
    this.lists = 0
    this.bytes = 0
    return rows
  }

  #closePack(): void {
    if (this.#end > 1) this.#push({ row: this.#packRow, bytes: this.#pack.slice(0, this.#end) })
    this.#end = 1
  }

  #push(row: ListRow): void {
    this.rows.push(row)
    this.bytes += row.bytes.length
  }

  #append(place: number, postings: Uint32Array): void {
    const count = postings.length
    if (this.#end + 2 + count * 6 > this.#pack.length) {
      const grown = new Uint8Array(this.#pack.length * 2)
      grown.set(this.#pack)
      this.#pack = grown
    }
    const pack = this.#pack
    let at = this.#end
    pack[at++] = count === 1 ? place | SINGLE : place
    if (count > 1) pack[at++] = count
    let before = 0
    for (const posting of postings) {
      let gap = (posting >>> 8) - before
      before = posting >>> 8
      for (; gap > 127; gap >>>= 7) pack[at++] = (gap & 127) | 128
      pack[at++] = gap
    }
    for (const posting of postings) pack[at++] = posting & 255
    this.#end = at
  }
}

export const isPack = (bytes: Uint8Array) => bytes[0] === PACK

/** The lists of a pack, one after the other. */
export class PackReader {
  /** Infinity after the last. */
  term = Number.POSITIVE_INFINITY
  count = 0
  readonly docs = new Uint32Array(MOST_PACKED)
  readonly impacts = new Uint8Array(MOST_PACKED)
  #bytes: Uint8Array = new Uint8Array(0)
  #at = 0
  #first = 0

  open(bytes: Uint8Array, packRow: number): void {
    this.#bytes = bytes
    this.#at = 1
    this.#first = firstTermOf(packRow)
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
    if (count === 0 || count > MOST_PACKED || head >= SINGLE * 2) throw damaged()
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

const reader = new PackReader()

/** Null when the pack does not have it. */
export function listIn(pack: Uint8Array, term: number, size: number): List | null {
  reader.open(pack, packOf(term))
  while (reader.term < term) reader.next()
  if (reader.term !== term) return null
  return listOf(reader.docs.slice(0, reader.count), reader.impacts.slice(0, reader.count), size)
}
