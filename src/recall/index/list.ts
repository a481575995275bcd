import { IndexUnusable } from "../../domain/index-tables.ts"

/** The documents of one segment that have one word, ascending, each with its impact. */
export interface List {
  count: number
  max: number
  /** Absent when `impacts` has a byte for every document of the segment, 0 where the word does not occur. */
  docs: Uint16Array | undefined
  impacts: Uint8Array
}

/** kind, largest impact, count - 1 as u16; then u16 documents and u8 impacts, or a byte for every document. */
const HEAD_BYTES = 4
const SPARSE = 1
const DENSE = 2
/** From a third of the segment on, a byte for each document takes less than three for each that has the word. */
const DENSE_SHARE = 1 / 3

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

/** Of postings that are document << 8 | impact, ascending, in a segment of so many documents. */
export function encodeList(postings: Uint32Array, size: number): Uint8Array {
  const count = postings.length
  const isDense = count > size * DENSE_SHARE
  const bytes = new Uint8Array(HEAD_BYTES + (isDense ? size : count * 3))
  let max = 0
  for (let at = 0; at < count; at++) {
    const doc = postings[at]! >> 8
    const impact = postings[at]! & 255
    if (impact > max) max = impact
    if (isDense) bytes[HEAD_BYTES + doc] = impact
    else {
      bytes[HEAD_BYTES + at * 2] = doc & 255
      bytes[HEAD_BYTES + at * 2 + 1] = doc >> 8
      bytes[HEAD_BYTES + count * 2 + at] = impact
    }
  }
  bytes[0] = isDense ? DENSE : SPARSE
  bytes[1] = max
  bytes[2] = (count - 1) & 255
  bytes[3] = (count - 1) >> 8
  return bytes
}

/** Views on the bytes where they have a buffer of their own; a slice of a driver's pool is copied, or it keeps the pool. */
export function decodeList(read: Uint8Array, size: number): List {
  const bytes = read.buffer.byteLength === read.length ? read : new Uint8Array(read)
  const count = (bytes[2]! | (bytes[3]! << 8)) + 1
  const max = bytes[1]!
  if (bytes[0] === DENSE && bytes.length === HEAD_BYTES + size)
    return { count, max, docs: undefined, impacts: new Uint8Array(bytes.buffer, HEAD_BYTES) }
  if (bytes[0] !== SPARSE || bytes.length !== HEAD_BYTES + count * 3)
    throw new IndexUnusable("damaged", "a list of the index is damaged")
  const docs = shorts(bytes, count)
  if (docs[count - 1]! >= size) throw new IndexUnusable("damaged", "a list of the index names a document that is not")
  // Not subarray, which gives the driver's class: the inner loops are compiled for one.
  return { count, max, docs, impacts: new Uint8Array(bytes.buffer, HEAD_BYTES + count * 2) }
}

function shorts(bytes: Uint8Array, count: number): Uint16Array {
  if (isLittleEndian) return new Uint16Array(bytes.buffer, HEAD_BYTES, count)
  return Uint16Array.from(
    { length: count },
    (_, at) => bytes[HEAD_BYTES + at * 2]! | (bytes[HEAD_BYTES + at * 2 + 1]! << 8),
  )
}

/** The impact in this document; 0 when the word does not occur in it. */
export function impactIn(list: List, doc: number): number {
  const { docs } = list
  if (docs === undefined) return list.impacts[doc]!
  let low = 0
  let high = list.count - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = docs[middle]!
    if (found === doc) return list.impacts[middle]!
    if (found < doc) low = middle + 1
    else high = middle - 1
  }
  return 0
}

/** What a look-up costs, in steps. */
export const lookUpSteps = (list: List) => (list.docs === undefined ? 1 : 32 - Math.clz32(list.count))
