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

/** `size`: how many documents the segment has. */
export function encodeList(docs: ArrayLike<number>, impacts: ArrayLike<number>, count: number, size: number) {
  const isDense = count > size * DENSE_SHARE
  const bytes = new Uint8Array(HEAD_BYTES + (isDense ? size : count * 3))
  let max = 0
  for (let at = 0; at < count; at++) {
    const doc = docs[at]!
    const impact = impacts[at]!
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

/** Views on the bytes, without copying where the bytes lie as the processor wants them. */
export function decodeList(bytes: Uint8Array, size: number): List {
  const count = (bytes[2]! | (bytes[3]! << 8)) + 1
  const max = bytes[1]!
  if (bytes[0] === DENSE && bytes.length === HEAD_BYTES + size)
    return { count, max, docs: undefined, impacts: view(bytes, HEAD_BYTES) }
  if (bytes[0] !== SPARSE || bytes.length !== HEAD_BYTES + count * 3)
    throw new IndexUnusable("damaged", "a list of the index is damaged")
  const docs = shorts(bytes, HEAD_BYTES, count)
  if (docs[count - 1]! >= size) throw new IndexUnusable("damaged", "a list of the index names a document that is not")
  return { count, max, docs, impacts: view(bytes, HEAD_BYTES + count * 2) }
}

/** Of one class whatever the driver hands out: the inner loops are compiled for it. */
const view = (bytes: Uint8Array, from: number) =>
  new Uint8Array(bytes.buffer, bytes.byteOffset + from, bytes.length - from)

function shorts(bytes: Uint8Array, from: number, count: number): Uint16Array {
  // Drivers hand out slices of a pool, which begin anywhere.
  if (isLittleEndian && (bytes.byteOffset + from) % 2 === 0)
    return new Uint16Array(bytes.buffer, bytes.byteOffset + from, count)
  const docs = new Uint16Array(count)
  for (let at = 0; at < count; at++) docs[at] = bytes[from + at * 2]! | (bytes[from + at * 2 + 1]! << 8)
  return docs
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
