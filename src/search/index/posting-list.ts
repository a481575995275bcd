import { IndexUnusable } from "../../domain/index-tables.ts"

/** The documents of a segment that have a word, with impacts, in one of three layouts by how many they are. */
export interface PostingList {
  count: number
  max: number
  impacts: Uint8Array
  /** Few: ascending. Otherwise they are grouped in blocks. */
  docs: Uint32Array | undefined
  /** Many: the offset of each in its block. Absent when `impacts` has a byte for every document, 0 without the word. */
  places: Uint8Array | undefined
  /** The start of each block in `places`, and the end of the last. */
  starts: Uint32Array
  /** The largest impact of each block. */
  maxes: Uint8Array
}

/** Documents per block, so that an offset is a byte. */
export const BLOCK_SHIFT = 8
export const BLOCK_DOCS = 1 << BLOCK_SHIFT

/** Layout, largest impact, two unused bytes, count; then the layout's own. A first byte of 0 is a posting page. */
const HEAD_BYTES = 8
/** End offset for each 65,536 documents as u32; low 16 bits of each document; impacts. */
const FEW = 1
/** End offsets of blocks as u16, modulo 65,536; largest impacts; places; impacts. */
const MANY = 2
/** Largest impacts of blocks; an impact per document. */
const MOST = 3

const WIDE_SHIFT = 16
const NO_NUMBERS = new Uint32Array(0)
const NO_BYTES = new Uint8Array(0)

const countOfBlocks = (size: number, shift: number) => ((size - 1) >>> shift) + 1
export const blocksOf = (size: number) => countOfBlocks(size, BLOCK_SHIFT)

/** Encodes ascending postings (document << 8 | impact) of a segment of `size` documents in the shortest layout. */
export function encodePostings(postings: Uint32Array, size: number): Uint8Array {
  const count = postings.length
  const few = countOfBlocks(size, WIDE_SHIFT) * 4 + count * 3
  const many = blocksOf(size) * 3 + count * 2
  const most = blocksOf(size) + size
  const least = Math.min(few, many, most)
  const bytes = new Uint8Array(HEAD_BYTES + least)
  for (let at = 0; at < count; at++) bytes[1] = Math.max(bytes[1]!, postings[at]! & 255)
  new DataView(bytes.buffer).setUint32(4, count, true)
  if (least === few) writeFew(bytes, postings, size)
  else if (least === many) writeMany(bytes, postings, size)
  else writeMost(bytes, postings, size)
  return bytes
}

function writeFew(bytes: Uint8Array, postings: Uint32Array, size: number): void {
  const count = postings.length
  const view = new DataView(bytes.buffer)
  bytes[0] = FEW
  let to = HEAD_BYTES
  for (let block = 0, at = 0; block < countOfBlocks(size, WIDE_SHIFT); block++, to += 4) {
    while (at < count && postings[at]! >>> (WIDE_SHIFT + 8) === block) at++
    view.setUint32(to, at, true)
  }
  for (let at = 0; at < count; at++) {
    view.setUint16(to + at * 2, (postings[at]! >>> 8) & 0xffff, true)
    bytes[to + count * 2 + at] = postings[at]! & 255
  }
}

function writeMany(bytes: Uint8Array, postings: Uint32Array, size: number): void {
  const count = postings.length
  const blocks = blocksOf(size)
  const view = new DataView(bytes.buffer)
  bytes[0] = MANY
  const placesAt = HEAD_BYTES + blocks * 3
  for (let block = 0, at = 0; block < blocks; block++) {
    for (; at < count && postings[at]! >>> (BLOCK_SHIFT + 8) === block; at++) {
      bytes[placesAt + at] = (postings[at]! >>> 8) & 255
      bytes[placesAt + count + at] = postings[at]! & 255
    }
    view.setUint16(HEAD_BYTES + block * 2, at & 0xffff, true)
  }
  writeMaxes(bytes, HEAD_BYTES + blocks * 2, postings)
}

function writeMost(bytes: Uint8Array, postings: Uint32Array, size: number): void {
  bytes[0] = MOST
  const impactsAt = HEAD_BYTES + blocksOf(size)
  for (const posting of postings) bytes[impactsAt + (posting >>> 8)] = posting & 255
  writeMaxes(bytes, HEAD_BYTES, postings)
}

function writeMaxes(bytes: Uint8Array, to: number, postings: Uint32Array): void {
  for (const posting of postings) {
    const at = to + (posting >>> (BLOCK_SHIFT + 8))
    if ((posting & 255) > bytes[at]!) bytes[at] = posting & 255
  }
}

/** Views on `read` if it owns its buffer; otherwise copies, which would keep the driver's pool alive. */
export function decodePostings(read: Uint8Array, size: number): PostingList {
  const bytes = read.buffer.byteLength === read.length ? read : new Uint8Array(read)
  if (bytes.length <= HEAD_BYTES) throw damaged()
  const count = new DataView(bytes.buffer).getUint32(4, true)
  const max = bytes[1]!
  if (bytes[0] === FEW) return readFew(bytes, count, size)
  const blocks = blocksOf(size)
  // Not subarray, which returns a Buffer: the inner loops must stay monomorphic.
  const part = (from: number, length: number) => new Uint8Array(bytes.buffer, from, length)
  if (bytes[0] === MOST && bytes.length === HEAD_BYTES + blocks + size) {
    const impacts = part(HEAD_BYTES + blocks, size)
    return {
      count,
      max,
      impacts,
      docs: undefined,
      places: undefined,
      starts: NO_NUMBERS,
      maxes: part(HEAD_BYTES, blocks),
    }
  }
  const placesAt = HEAD_BYTES + blocks * 3
  if (bytes[0] !== MANY || bytes.length !== placesAt + count * 2) throw damaged()
  const starts = startsOf(bytes, blocks, count)
  const places = part(placesAt, count)
  const last = (starts.findLastIndex((start) => start < count) << BLOCK_SHIFT) + places[count - 1]!
  if (last >= size) throw damaged()
  const maxes = part(HEAD_BYTES + blocks * 2, blocks)
  return { count, max, impacts: part(placesAt + count, count), docs: undefined, places, starts, maxes }
}

function readFew(bytes: Uint8Array, count: number, size: number): PostingList {
  const blocks = countOfBlocks(size, WIDE_SHIFT)
  const docsAt = HEAD_BYTES + blocks * 4
  if (count === 0 || bytes.length !== docsAt + count * 3) throw damaged()
  const view = new DataView(bytes.buffer)
  const docs = new Uint32Array(count)
  let at = 0
  for (let block = 0; block < blocks; block++) {
    const end = view.getUint32(HEAD_BYTES + block * 4, true)
    if (end < at || end > count) throw damaged()
    for (; at < end; at++) docs[at] = (block << WIDE_SHIFT) | view.getUint16(docsAt + at * 2, true)
  }
  if (at !== count) throw damaged()
  // Copy: slicing a Buffer gives a view that keeps the whole row alive.
  return postingsOf(docs, new Uint8Array(bytes.subarray(docsAt + count * 2)), size)
}

/** A posting list of ascending documents. */
export function postingsOf(docs: Uint32Array, impacts: Uint8Array, size: number): PostingList {
  const count = docs.length
  if (docs[count - 1]! >= size) throw damaged()
  let max = 0
  for (let at = 0; at < count; at++) if (impacts[at]! > max) max = impacts[at]!
  return { count, max, impacts, docs, places: undefined, starts: NO_NUMBERS, maxes: NO_BYTES }
}

export const damaged = () => new IndexUnusable("damaged", "a list of the index is damaged")

function startsOf(bytes: Uint8Array, blocks: number, count: number): Uint32Array {
  const starts = new Uint32Array(blocks + 1)
  const view = new DataView(bytes.buffer)
  let end = 0
  for (let block = 0; block < blocks; block++) {
    end += (view.getUint16(HEAD_BYTES + block * 2, true) - end) & 0xffff
    starts[block + 1] = end
  }
  if (end !== count) throw damaged()
  return starts
}

/** 0 when the word does not occur in the document. */
export function impactIn(list: PostingList, doc: number): number {
  const { docs, places } = list
  if (docs !== undefined) return list.impacts[placeIn(docs, doc, 0, list.count)] ?? 0
  if (places === undefined) return list.impacts[doc]!
  const block = doc >>> BLOCK_SHIFT
  return list.impacts[placeIn(places, doc & (BLOCK_DOCS - 1), list.starts[block]!, list.starts[block + 1]!)] ?? 0
}

/** Binary search; -1 if absent. */
export function placeIn(sorted: Uint32Array | Uint8Array, wanted: number, from: number, to: number): number {
  let low = from
  let high = to - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = sorted[middle]!
    if (found === wanted) return middle
    if (found < wanted) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** Binary search for the first index that is not below what is wanted; `to` if all are. */
export function lowerBound(from: number, to: number, isBelow: (at: number) => boolean): number {
  let low = from
  for (let high = to; low < high; ) {
    const middle = (low + high) >> 1
    if (isBelow(middle)) low = middle + 1
    else high = middle
  }
  return low
}

/** Visits the postings in order until `stopAt` returns true. */
export function someDoc(list: PostingList, stopAt: (doc: number, impact: number) => boolean): boolean {
  const { docs, places, starts, impacts, count } = list
  if (docs !== undefined) {
    for (let at = 0; at < count; at++) if (stopAt(docs[at]!, impacts[at]!)) return true
  } else if (places !== undefined) {
    for (let block = 0; block + 1 < starts.length; block++)
      for (let at = starts[block]!; at < starts[block + 1]!; at++)
        if (stopAt((block << BLOCK_SHIFT) + places[at]!, impacts[at]!)) return true
  } else
    for (let doc = 0; doc < impacts.length; doc++) if (impacts[doc] !== 0 && stopAt(doc, impacts[doc]!)) return true
  return false
}

/** The cost of a lookup, in steps. */
export function lookUpSteps({ docs, places, count, maxes }: PostingList): number {
  if (docs === undefined && places === undefined) return 1
  return 33 - Math.clz32(docs ? count : count / maxes.length)
}
