import { crc32 } from "node:zlib"
import { damaged } from "./posting-list.ts"
import type { PostingRow } from "./posting-page.ts"

/** Document frequencies of a segment are stored after its posting rows. */
export const FIRST_COUNTS_ROW = 2 ** 30
const ROW_BYTES = 32 * 1024
const CHECKSUM_BYTES = 4
/** Two varints of 32 bits. */
const MOST_BYTES = 10

/** Document frequency by term, over all segments. */
export class Counts {
  #byTerm = new Uint32Array(1024)

  of(term: number): number {
    return this.#byTerm[term] ?? 0
  }

  add(term: number, count: number): void {
    if (term >= this.#byTerm.length) {
      const grown = new Uint32Array(Math.ceil(term * 1.25) + 1)
      grown.set(this.#byTerm)
      this.#byTerm = grown
    }
    this.#byTerm[term]! += count
  }
}

export function eachCount(bytes: Uint8Array, call: (term: number, count: number) => void): void {
  // A flipped bit would hide a word.
  const end = bytes.length - CHECKSUM_BYTES
  if (end < 0 || new DataView(bytes.buffer, bytes.byteOffset).getUint32(end) !== crc32(bytes.subarray(0, end)))
    throw damaged()
  let at = 0
  const next = () => {
    let number = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]
      if (byte === undefined || shift > 28) throw damaged()
      number |= (byte & 127) << shift
      if (byte < 128) return number >>> 0
    }
  }
  let term = 0
  while (at < end) {
    term += next()
    call(term, next())
  }
}

/** Encodes counts, added by ascending term, into rows. */
export class CountsWriter {
  readonly rows: PostingRow[] = []
  #bytes = new Uint8Array(ROW_BYTES)
  #end = 0
  #before = 0

  add(term: number, count: number): void {
    if (this.#end + MOST_BYTES + CHECKSUM_BYTES > ROW_BYTES) this.finish()
    this.#write(term - this.#before)
    this.#write(count)
    this.#before = term
  }

  finish(): void {
    if (this.#end > 0) {
      const bytes = this.#bytes.slice(0, this.#end + CHECKSUM_BYTES)
      new DataView(bytes.buffer).setUint32(this.#end, crc32(bytes.subarray(0, this.#end)))
      this.rows.push({ row: FIRST_COUNTS_ROW + this.rows.length, bytes })
    }
    this.#end = 0
    this.#before = 0
  }

  #write(number: number): void {
    let left = number
    for (; left > 127; left >>>= 7) this.#bytes[this.#end++] = (left & 127) | 128
    this.#bytes[this.#end++] = left
  }
}
