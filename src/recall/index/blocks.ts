import { BLOCK_DOCS, BLOCK_SHIFT, blocksOf, impactIn, type List } from "./list.ts"
import type { Accept, Part } from "./rank.ts"
import type { Top } from "./top.ts"

/** Blocks are looked at in the order of what they can reach, in so many steps: near enough, and sorted in no time. */
const STEPS = 128
/** From so many postings on, looking at a whole block costs less than keeping a list of the documents that have some. */
const MANY_POSTINGS = 96
/** Looking one document up costs as much as adding so many postings. */
const LOOK_UP_POSTINGS = 12
const sums = new Int32Array(BLOCK_DOCS)
const touched = new Uint8Array(BLOCK_DOCS)

/** Where a list is in the block that is looked at. */
interface Here extends Part {
  /** The most that it can add here. */
  most: number
  from: number
  to: number
  isLookedUp: boolean
}

interface Run {
  view: number
  parts: Here[]
  accept: Accept
  first: number
}

/**
 * MaxScore by blocks of documents. Those that can reach most come first, so that soon nothing else can be among the best; and
 * within a block, words that cannot lift a document there by themselves are only looked up in documents that others have.
 */
export class Blocks {
  readonly #runs: Run[] = []
  #count = 0

  add(view: number, size: number, parts: readonly Part[], accept: Accept): void {
    const first = this.#count
    this.#count += blocksOf(size)
    if (this.#count > scratch.bounds.length) scratch = enlarged(this.#count)
    const bounds = scratch.bounds.subarray(first, this.#count).fill(0)
    for (const { list, weight } of parts) addBounds(bounds, list, weight)
    scratch.owners.fill(this.#runs.length, first, this.#count)
    const heres = parts.map((part) => ({ ...part, most: 0, from: 0, to: 0, isLookedUp: false }))
    this.#runs.push({ view, parts: heres, accept, first })
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
      if (bounds[at]! >= top.floor) lookAt(top, run, at - run.first)
      // Those of one step are in no order; no later one has more than the first of it.
      else if (bounds[at]! + highest / STEPS + 1 < top.floor) return
    }
  }
}

/** Of all blocks of a search: what they can reach, the run that each is in, and their order. Used again by the next one. */
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

function addBounds(bounds: Int32Array, { docs, count, impacts, maxes }: List, weight: number): void {
  if (docs === undefined) for (let block = 0; block < bounds.length; block++) bounds[block]! += weight * maxes[block]!
  else
    for (let at = 0; at < count; ) {
      const block = docs[at]! >>> BLOCK_SHIFT
      let most = 0
      for (; at < count && docs[at]! >>> BLOCK_SHIFT === block; at++) if (impacts[at]! > most) most = impacts[at]!
      bounds[block]! += weight * most
    }
}

function lookAt(top: Top, { view, parts, accept }: Run, block: number): void {
  const first = block << BLOCK_SHIFT
  let essential = parts.length
  let bound = 0
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!
    part.most = part.weight * enter(part, block)
    bound += part.most
    if (bound >= top.floor && essential === parts.length) essential = index
  }
  if (essential === parts.length) return
  let count = 0
  for (let index = essential; index < parts.length; index++) count = addUp(parts[index]!, first, count)
  const isMany = count > BLOCK_DOCS
  if (isMany) count = BLOCK_DOCS
  let rest = 0
  for (let index = 0; index < essential; index++) {
    const part = parts[index]!
    part.isLookedUp = part.to - part.from > count * LOOK_UP_POSTINGS
    if (part.isLookedUp) rest += part.most
    else addQuietly(part, first)
  }
  for (let at = 0; at < count; at++) {
    const place = isMany ? at : touched[at]!
    let score = sums[place]!
    if (score === 0 || score + rest < top.floor || !accept(first + place)) continue
    for (let index = 0; index < essential; index++) {
      const part = parts[index]!
      if (part.isLookedUp) score += part.weight * impactIn(part.list, first + place)
    }
    if (score >= top.floor) top.push(score, view, first + place)
  }
  sums.fill(0)
}

/** The largest impact in the block. */
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

/** How many documents are in `touched`; more than a block has means that nobody counted. */
function addUp(part: Here, first: number, already: number): number {
  const { docs, places, impacts } = part.list
  const { weight, from, to } = part
  let count = already
  if (count > BLOCK_DOCS || (docs === undefined && (places === undefined || to - from > MANY_POSTINGS))) {
    addQuietly(part, first)
    return BLOCK_DOCS + 1
  }
  for (let at = from; at < to; at++) {
    const place = docs === undefined ? places![at]! : docs[at]! - first
    if (sums[place] === 0) touched[count++] = place
    sums[place]! += weight * impacts[at]!
  }
  return count
}

function addQuietly({ list, weight, from, to }: Here, first: number): void {
  const { docs, places, impacts } = list
  if (docs !== undefined) for (let at = from; at < to; at++) sums[docs[at]! - first]! += weight * impacts[at]!
  else if (places !== undefined) for (let at = from; at < to; at++) sums[places[at]!]! += weight * impacts[at]!
  else {
    const end = Math.min(BLOCK_DOCS, impacts.length - first)
    for (let place = 0; place < end; place++) sums[place]! += weight * impacts[first + place]!
  }
}
