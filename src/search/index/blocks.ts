import { BLOCK_DOCS, BLOCK_SHIFT, blocksOf, impactIn, type PostingList } from "./posting-list.ts"
import type { Accept, WeightedPostings } from "./rank.ts"
import type { Top } from "./top.ts"

/** Blocks are visited by their upper bound, sorted into this many buckets: close enough to exact order, and linear time. */
const STEPS = 128
/** From this many postings on, scanning the whole block is cheaper than tracking the documents that have some. */
const MANY_POSTINGS = 96
/** One lookup costs as much as adding this many postings. */
const LOOK_UP_POSTINGS = 12
const sums = new Int32Array(BLOCK_DOCS)
/** The scores of a single posting list. */
const own = new Int32Array(BLOCK_DOCS)
const touched = new Uint8Array(BLOCK_DOCS)

/** A posting list's range in the current block. */
interface Here extends WeightedPostings {
  from: number
  to: number
  /** Its upper bound in the block. */
  most: number
}

interface Run {
  view: number
  /** The optional terms. */
  parts: Here[]
  /** The required terms. */
  required: Here[]
  accept: Accept
  first: number
}

/**
 * Block-max MaxScore. Blocks with the highest upper bound come first, which raises the threshold early. Within a block, terms
 * that cannot reach the threshold on their own are only looked up in documents that other terms found.
 */
export class Blocks {
  readonly #runs: Run[] = []
  #count = 0

  /** `required` is a subset of the lists in `parts`; blocks without one of them are skipped. */
  add(
    view: number,
    size: number,
    parts: readonly WeightedPostings[],
    accept: Accept,
    required: readonly PostingList[],
  ): void {
    const first = this.#count
    this.#count += blocksOf(size)
    if (this.#count > scratch.bounds.length) scratch = enlarged(this.#count)
    const bounds = scratch.bounds.subarray(first, this.#count).fill(0)
    for (const { list, weight } of parts) addBounds(bounds, list, weight)
    for (const list of required) clearWithout(bounds, list)
    scratch.owners.fill(this.#runs.length, first, this.#count)
    const heres = parts.map((part) => ({ ...part, from: 0, to: 0, most: 0 }))
    const isRequired = ({ list }: WeightedPostings) => required.includes(list)
    this.#runs.push({
      ...{ view, accept, first },
      parts: heres.filter((part) => !isRequired(part)),
      required: heres.filter(isRequired),
    })
  }

  search(top: Top): void {
    const { bounds, owners, order } = scratch
    let highest = 0
    for (let at = 0; at < this.#count; at++) if (bounds[at]! > highest) highest = bounds[at]!
    if (highest === 0) return
    const stepOf = (bound: number) => Math.floor(((highest - bound) * STEPS) / (highest + 1))
    const ends = new Uint32Array(STEPS + 1)
    for (let at = 0; at < this.#count; at++) ends[stepOf(bounds[at]!)]!++
    for (let step = 0, end = 0; step <= STEPS; step++) {
      const count = ends[step]!
      ends[step] = end
      end += count
    }
    for (let at = 0; at < this.#count; at++) order[ends[stepOf(bounds[at]!)]!++] = at
    for (let next = 0; next < this.#count; next++) {
      const at = order[next]!
      const run = this.#runs[owners[at]!]!
      if (bounds[at]! >= top.floor)
        if (run.required.length > 0) scoreConjunction(top, run, at - run.first, bounds[at]!)
        else scoreBlock(top, run, at - run.first, bounds[at]!)
      // A bucket is unsorted, but no later bucket has a higher bound.
      else if (bounds[at]! + highest / STEPS + 1 < top.floor) return
    }
  }
}

/** Upper bound, run and order of all blocks of a search. Reused by the next search. */
interface Scratch {
  bounds: Int32Array
  owners: Uint16Array
  order: Uint32Array
}

let scratch = newScratch(1024)

function newScratch(blocks: number): Scratch {
  return { bounds: new Int32Array(blocks), owners: new Uint16Array(blocks), order: new Uint32Array(blocks) }
}

function enlarged(blocks: number): Scratch {
  const larger = newScratch(blocks * 2)
  larger.bounds.set(scratch.bounds)
  larger.owners.set(scratch.owners)
  return larger
}

function addBounds(bounds: Int32Array, { docs, count, impacts, maxes }: PostingList, weight: number): void {
  if (docs === undefined) for (let block = 0; block < bounds.length; block++) bounds[block]! += weight * maxes[block]!
  else
    for (let at = 0; at < count; ) {
      const block = docs[at]! >>> BLOCK_SHIFT
      let most = 0
      for (; at < count && docs[at]! >>> BLOCK_SHIFT === block; at++) if (impacts[at]! > most) most = impacts[at]!
      bounds[block]! += weight * most
    }
}

function clearWithout(bounds: Int32Array, { docs, count, maxes }: PostingList): void {
  if (docs === undefined) {
    for (let block = 0; block < bounds.length; block++) if (maxes[block] === 0) bounds[block] = 0
    return
  }
  let next = 0
  for (let at = 0; at < count; at++) {
    const block = docs[at]! >>> BLOCK_SHIFT
    if (block < next) continue
    bounds.fill(0, next, block)
    next = block + 1
  }
  bounds.fill(0, next)
}

/** `bound` is the block's upper bound. */
function scoreBlock(top: Top, { view, parts, accept }: Run, block: number, bound: number): void {
  const first = block << BLOCK_SHIFT
  const { floor } = top
  let rest = bound
  let others = parts.length
  let count = 0
  // As long as the remaining terms could reach the threshold on their own.
  while (others > 0 && rest >= floor) {
    const part = parts[--others]!
    rest -= part.weight * enter(part, block)
    if (part.to > part.from) count = addUp(part, first, count)
  }
  let left = stillAble(count, floor - rest)
  while (others > 0 && left > 0) {
    const part = parts[--others]!
    const most = part.weight * enter(part, block)
    if (most === 0) continue
    addWhere(part, first, left)
    rest -= most
    left = stillAble(left, floor - rest)
  }
  pushTouched(top, view, accept, first, left)
}

/** Conjunction: the documents with the rarest required term, filtered by the other required terms. */
function scoreConjunction(top: Top, { view, parts, required, accept }: Run, block: number, bound: number): void {
  const first = block << BLOCK_SHIFT
  const { floor } = top
  let rarest = required[0]!
  for (const part of required) {
    part.most = part.weight * enter(part, block)
    if (part.to - part.from < rarest.to - rarest.from) rarest = part
  }
  let rest = bound - rarest.most
  let left = stillAble(addUp(rarest, first, 0), floor - rest)
  for (const part of required) {
    if (part === rarest) continue
    rest -= part.most
    left = stillHaving(part, first, left, floor - rest)
  }
  if (left > 0) for (const part of parts) if (enter(part, block) > 0) addWhere(part, first, left)
  pushTouched(top, view, accept, first, left)
}

function pushTouched(top: Top, view: number, accept: Accept, first: number, count: number): void {
  for (let at = 0; at < count; at++) {
    const place = touched[at]!
    const score = sums[place]!
    if (score >= top.floor && accept(first + place)) top.push(score, view, first + place)
  }
  sums.fill(0)
}

/** Keeps the documents of `touched` that this list has too and that still reach `least`. */
function stillHaving(part: Here, first: number, count: number, least: number): number {
  const { list, weight, from, to } = part
  const isSpread = (list.docs !== undefined || list.places !== undefined) && to - from <= count * LOOK_UP_POSTINGS
  if (isSpread) addTo(own, part, first)
  let left = 0
  for (let at = 0; at < count; at++) {
    const place = touched[at]!
    const more = isSpread ? own[place]! : weight * impactIn(list, first + place)
    if (more === 0) continue
    sums[place]! += more
    if (sums[place]! >= least) touched[left++] = place
  }
  if (isSpread) own.fill(0)
  return left
}

/** Keeps the documents of `touched` that reach `least`; returns their number. */
function stillAble(count: number, least: number): number {
  const isMany = count > BLOCK_DOCS
  const end = isMany ? BLOCK_DOCS : count
  let left = 0
  for (let at = 0; at < end; at++) {
    const place = isMany ? at : touched[at]!
    if (sums[place]! >= least && sums[place]! > 0) touched[left++] = place
  }
  return left
}

/** Adds to the first `count` documents of `touched`; to all of the block where that is cheaper. */
function addWhere(part: Here, first: number, count: number): void {
  const { list, weight, from, to } = part
  if (list.docs === undefined && list.places === undefined)
    for (let at = 0; at < count; at++) sums[touched[at]!]! += weight * list.impacts[first + touched[at]!]!
  else if (to - from <= count * LOOK_UP_POSTINGS) addTo(sums, part, first)
  else for (let at = 0; at < count; at++) sums[touched[at]!]! += weight * impactIn(list, first + touched[at]!)
}

/** Moves to the block; returns its largest impact. */
function enter(part: Here, block: number): number {
  const { docs, places, impacts, starts, maxes, count } = part.list
  if (docs === undefined) {
    const isAll = places === undefined
    part.from = isAll ? 0 : starts[block]!
    part.to = isAll ? BLOCK_DOCS : starts[block + 1]!
    return maxes[block]!
  }
  const first = block << BLOCK_SHIFT
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (docs[middle]! < first) low = middle + 1
    else high = middle
  }
  part.from = low
  let most = 0
  for (; low < count && docs[low]! < first + BLOCK_DOCS; low++) if (impacts[low]! > most) most = impacts[low]!
  part.to = low
  return most
}

/** Returns the number of documents in `touched`, or more than a block has if they were not tracked. */
function addUp(part: Here, first: number, already: number): number {
  const { docs, places, impacts } = part.list
  const { weight, from, to } = part
  let count = already
  if (count > BLOCK_DOCS || (docs === undefined && (places === undefined || to - from > MANY_POSTINGS))) {
    addTo(sums, part, first)
    return BLOCK_DOCS + 1
  }
  for (let at = from; at < to; at++) {
    const place = docs === undefined ? places![at]! : docs[at]! - first
    if (sums[place] === 0) touched[count++] = place
    sums[place]! += weight * impacts[at]!
  }
  return count
}

function addTo(target: Int32Array, { list, weight, from, to }: Here, first: number): void {
  const { docs, places, impacts } = list
  if (docs !== undefined) for (let at = from; at < to; at++) target[docs[at]! - first]! += weight * impacts[at]!
  else if (places !== undefined) for (let at = from; at < to; at++) target[places[at]!]! += weight * impacts[at]!
  else {
    const end = Math.min(BLOCK_DOCS, impacts.length - first)
    for (let place = 0; place < end; place++) target[place]! += weight * impacts[first + place]!
  }
}
