import { IndexUnusable } from "../../domain/index-tables.ts"

/**
 * The documents of one segment that have one word, ascending, each with its impact. They lie in blocks of neighbours: of a
 * document, only its place in the block is kept.
 */
export interface List {
  count: number
  max: number
  /** Blocks have 2^shift documents. */
  shift: number
  /** Where each block begins in `docs`, and where the last one ends. */
  starts: Uint32Array
  /** Absent when `impacts` has a byte for every document of the segment, 0 where the word does not occur. */
  docs: Uint8Array | Uint16Array | undefined
  impacts: Uint8Array
}

/** Kind, largest impact, two bytes of nothing, count; then what the kind says. 0 as the first byte is a pack's. */
const HEAD_BYTES = 8
/** Ends of blocks as u32, documents as u16, impacts. */
const WIDE = 1
/** Ends of blocks as u16, which go round; documents and impacts of a byte each. */
const NARROW = 2
/** An impact for every document. */
const DENSE = 3

const WIDE_SHIFT = 16
const NARROW_SHIFT = 8
const NOTHING = new Uint32Array(0)

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
const blocksOf = (size: number, shift: number) => ((size - 1) >>> shift) + 1

/** Of postings that are document << 8 | impact, ascending, in a segment of so many documents: whichever kind is shortest. */
export function encodeList(postings: Uint32Array, size: number): Uint8Array {
  const count = postings.length
  const wide = blocksOf(size, WIDE_SHIFT) * 4 + count * 3
  const narrow = blocksOf(size, NARROW_SHIFT) * 2 + count * 2
  const least = Math.min(wide, narrow, size)
  const bytes = new Uint8Array(HEAD_BYTES + least)
  let max = 0
  for (let at = 0; at < count; at++) max = Math.max(max, postings[at]! & 255)
  bytes[0] = least === wide ? WIDE : least === narrow ? NARROW : DENSE
  bytes[1] = max
  new DataView(bytes.buffer).setUint32(4, count, true)
  if (least === wide) writeBlocks(bytes, postings, size, WIDE_SHIFT, 4, 2)
  else if (least === narrow) writeBlocks(bytes, postings, size, NARROW_SHIFT, 2, 1)
  else for (let at = 0; at < count; at++) bytes[HEAD_BYTES + (postings[at]! >>> 8)] = postings[at]! & 255
  return bytes
}

function writeBlocks(
  bytes: Uint8Array,
  postings: Uint32Array,
  size: number,
  shift: number,
  endBytes: number,
  docBytes: number,
): void {
  const count = postings.length
  const view = new DataView(bytes.buffer)
  let to = HEAD_BYTES
  let at = 0
  for (let block = 0; block < blocksOf(size, shift); block++, to += endBytes) {
    while (at < count && postings[at]! >>> (shift + 8) === block) at++
    if (endBytes === 4) view.setUint32(to, at, true)
    else view.setUint16(to, at & 0xffff, true)
  }
  const impactsAt = to + count * docBytes
  for (at = 0; at < count; at++, to += docBytes) {
    const posting = postings[at]!
    bytes[to] = (posting >>> 8) & 255
    if (docBytes === 2) bytes[to + 1] = (posting >>> 16) & 255
    bytes[impactsAt + at] = posting & 255
  }
}

/** Views on the bytes where they have a buffer of their own; a slice of a driver's pool is copied, or it keeps the pool. */
export function decodeList(read: Uint8Array, size: number): List {
  const bytes = read.buffer.byteLength === read.length ? read : new Uint8Array(read)
  const { buffer } = bytes
  if (bytes.length <= HEAD_BYTES) throw damaged()
  const count = new DataView(buffer).getUint32(4, true)
  const max = bytes[1]!
  // Not subarray, which gives the driver's class: the inner loops are compiled for one.
  if (bytes[0] === DENSE && bytes.length === HEAD_BYTES + size)
    return { count, max, shift: 0, starts: NOTHING, docs: undefined, impacts: new Uint8Array(buffer, HEAD_BYTES) }
  const isNarrow = bytes[0] === NARROW
  const shift = isNarrow ? NARROW_SHIFT : WIDE_SHIFT
  const docsAt = HEAD_BYTES + blocksOf(size, shift) * (isNarrow ? 2 : 4)
  const impactsAt = docsAt + count * (isNarrow ? 1 : 2)
  if ((!isNarrow && bytes[0] !== WIDE) || count === 0 || bytes.length !== impactsAt + count) throw damaged()
  const starts = startsOf(bytes, blocksOf(size, shift), isNarrow, count)
  const docs = isNarrow ? new Uint8Array(buffer, docsAt, count) : shortsOf(bytes, docsAt, count)
  const last = ((starts.findLastIndex((start) => start < count) << shift) | docs[count - 1]!) >>> 0
  if (last >= size) throw damaged()
  return { count, max, shift, starts, docs, impacts: new Uint8Array(buffer, impactsAt) }
}

/** Of documents that ascend, as a pack has them. */
export function listOf(docs: Uint32Array, impacts: Uint8Array, size: number): List {
  const count = docs.length
  const starts = new Uint32Array(blocksOf(size, WIDE_SHIFT) + 1)
  const places = new Uint16Array(count)
  let max = 0
  for (let at = 0; at < count; at++) {
    const doc = docs[at]!
    if (doc >= size) throw damaged()
    starts[(doc >>> WIDE_SHIFT) + 1] = at + 1
    places[at] = doc & 0xffff
    if (impacts[at]! > max) max = impacts[at]!
  }
  for (let block = 1; block < starts.length; block++) starts[block] = Math.max(starts[block]!, starts[block - 1]!)
  return { count, max, shift: WIDE_SHIFT, starts, docs: places, impacts }
}

export const damaged = () => new IndexUnusable("damaged", "a list of the index is damaged")

function startsOf(bytes: Uint8Array, blocks: number, isNarrow: boolean, count: number): Uint32Array {
  const starts = new Uint32Array(blocks + 1)
  const view = new DataView(bytes.buffer)
  let end = 0
  for (let block = 0; block < blocks; block++) {
    const more = isNarrow
      ? (view.getUint16(HEAD_BYTES + block * 2, true) - end) & 0xffff
      : view.getUint32(HEAD_BYTES + block * 4, true) - end
    end += more
    if (more < 0 || end > count) throw damaged()
    starts[block + 1] = end
  }
  if (end !== count) throw damaged()
  return starts
}

function shortsOf(bytes: Uint8Array, from: number, count: number): Uint16Array {
  if (isLittleEndian) return new Uint16Array(bytes.buffer, from, count)
  return Uint16Array.from({ length: count }, (_, at) => bytes[from + at * 2]! | (bytes[from + at * 2 + 1]! << 8))
}

/** The impact in this document; 0 when the word does not occur in it. */
export function impactIn(list: List, doc: number): number {
  const { docs, starts, shift } = list
  if (docs === undefined) return list.impacts[doc]!
  const block = doc >>> shift
  const wanted = doc - (block << shift)
  let low = starts[block]!
  let high = starts[block + 1]! - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = docs[middle]!
    if (found === wanted) return list.impacts[middle]!
    if (found < wanted) low = middle + 1
    else high = middle - 1
  }
  return 0
}

/** The next documents of a list after each other, until one is enough. */
export function someDoc(list: List, isEnough: (doc: number, impact: number) => boolean): boolean {
  const { docs, starts, shift, impacts } = list
  if (docs === undefined) {
    for (let doc = 0; doc < impacts.length; doc++) if (impacts[doc] !== 0 && isEnough(doc, impacts[doc]!)) return true
    return false
  }
  for (let block = 0; block + 1 < starts.length; block++)
    for (let at = starts[block]!; at < starts[block + 1]!; at++)
      if (isEnough((block << shift) + docs[at]!, impacts[at]!)) return true
  return false
}

/** What a look-up costs, in steps. */
export const lookUpSteps = (list: List) =>
  list.docs === undefined ? 1 : 33 - Math.clz32(list.count / (list.starts.length - 1))
