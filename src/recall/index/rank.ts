import type { Docs } from "./docs.ts"
import { BLOCK_DOCS, BLOCK_SHIFT, blocksOf, impactIn, type List, lookUpSteps, someDoc } from "./list.ts"
import { type Found, Top } from "./top.ts"

export interface RankWish {
  views: readonly { docs: Docs }[]
  /** With a list, or none, for each view. Whole weights: sums are exact, so their order does not matter. */
  terms: readonly { weight: number; lists: readonly (List | undefined)[] }[]
  /** Lists of words that must occur, again by view. */
  required: readonly (readonly (List | undefined)[])[]
  accepts(view: number): Accept | undefined
  /** The only documents of the view that can be accepted, where they are known to be few. */
  only(view: number): ArrayLike<number> | undefined
  limit: number
}

export type Accept = (doc: number) => boolean

interface Part {
  list: List
  weight: number
  /** The most that this list and all before it can add, in any document and in the block that is looked at. */
  sum: number
  blockSum: number
  /** Of a list of few documents, the first that is not before the block. */
  at: number
}

/** Enough to find out roughly what the best documents score. */
const PRIMING_DOCS = 300
/** From so many postings on, looking at a whole block costs less than keeping a list of the documents that have some. */
const MANY_POSTINGS = 96
const sums = new Int32Array(BLOCK_DOCS)
const touched = new Uint8Array(BLOCK_DOCS)

/**
 * MaxScore, block by block: one in which no document can be among the best is passed over, and in the others the words that
 * cannot lift a document there by themselves are only looked up in documents that other words have brought up. Exact:
 * nothing that could win, be it by a tie, is left out.
 */
export function rank(wish: RankWish): Found[] {
  const { views } = wish
  const top = new Top(
    wish.limit,
    views.map((view) => view.docs),
  )
  const order = views.map((_, view) => view).sort((a, b) => views[b]!.docs.lastMs - views[a]!.docs.lastMs)
  const accepts = views.map((_, view) => wish.accepts(view))
  const parts = views.map((_, view) => (accepts[view] ? partsOf(wish, view) : []))
  if (wish.required.length === 0) top.floor = primedFloor(wish, order, parts, accepts)
  for (const view of order) {
    const here = parts[view]!
    const accept = accepts[view]
    if (!accept || here.length === 0 || here.at(-1)!.sum < top.floor) continue
    const required = wish.required.map((lists) => lists[view])
    const rarest = required.reduce(
      (least, list) => ((list?.count ?? 0) < (least?.count ?? 0) ? list : least),
      required[0],
    )
    if (required.length > 0) {
      if (rarest) together(top, view, here, rarest, required as List[], accept)
      continue
    }
    const only = wish.only(view)
    if (only && isCheaper(only.length, here)) oneByOne(top, view, here, only, accept)
    else accumulate(top, view, views[view]!.docs.size, here, accept)
  }
  return top.found()
}

function partsOf({ terms }: RankWish, view: number): Part[] {
  const parts: Part[] = []
  for (const { weight, lists } of terms) {
    const list = lists[view]
    if (list) parts.push({ list, weight, sum: 0, blockSum: 0, at: 0 })
  }
  parts.sort((a, b) => a.weight * a.list.max - b.weight * b.list.max)
  let sum = 0
  for (const part of parts) {
    sum += part.weight * part.list.max
    part.sum = sum
  }
  return parts
}

/** What `limit` different documents reach for certain, found among those that have the rarest words. */
function primedFloor(wish: RankWish, order: number[], parts: Part[][], accepts: (Accept | undefined)[]): number {
  const counted = wish.terms.map(({ lists }) => lists)
  const frequency = (lists: readonly (List | undefined)[]) => lists.reduce((sum, list) => sum + (list?.count ?? 0), 0)
  const rarestFirst = counted.toSorted((a, b) => frequency(a) - frequency(b))
  const scores: number[] = []
  let left = PRIMING_DOCS + wish.limit
  for (const [at, lists] of rarestFirst.entries()) {
    const before = rarestFirst.slice(0, at)
    for (const view of order) {
      const list = lists[view]
      const accept = accepts[view]
      if (!list || !accept || left === 0) continue
      someDoc(list, (doc) => {
        const isKnown = before.some((earlier) => earlier[view] && impactIn(earlier[view], doc) > 0)
        if (!isKnown && accept(doc)) scores.push(scoreIn(parts[view]!, doc, 0))
        return --left === 0
      })
    }
    if (left === 0) break
  }
  if (scores.length < wish.limit) return 1
  return Math.max(1, scores.sort((a, b) => b - a)[wish.limit - 1]!)
}

/** The exact score, or -1 as soon as it is certain to stay below the floor. */
function scoreIn(parts: Part[], doc: number, floor: number): number {
  let score = 0
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at]!
    if (score + part.sum < floor) return -1
    score += part.weight * impactIn(part.list, doc)
  }
  return score
}

function isCheaper(docs: number, parts: Part[]): boolean {
  let byLookUp = 0
  let byList = 0
  for (const { list } of parts) {
    byLookUp += docs * lookUpSteps(list)
    byList += list.count
  }
  return byLookUp < byList
}

function oneByOne(top: Top, view: number, parts: Part[], docs: ArrayLike<number>, accept: Accept): void {
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!
    const score = scoreIn(parts, doc, top.floor)
    if (score >= top.floor && accept(doc)) top.push(score, view, doc)
  }
}

function together(top: Top, view: number, parts: Part[], rarest: List, required: List[], accept: Accept): void {
  const others = required.filter((list) => list !== rarest).sort((a, b) => a.count - b.count)
  someDoc(rarest, (doc) => {
    for (const list of others) if (impactIn(list, doc) === 0) return false
    const score = scoreIn(parts, doc, top.floor)
    if (score >= top.floor && accept(doc)) top.push(score, view, doc)
    return false
  })
}

function accumulate(top: Top, view: number, size: number, parts: Part[], accept: Accept): void {
  const blocks = blocksOf(size)
  const areFew = parts.every(({ list }) => list.docs !== undefined)
  for (let block = 0; block < blocks; block++) {
    if (areFew) block = nextBlock(parts, block)
    if (block >= blocks) return
    const essential = firstEssential(parts, block, top.floor)
    if (essential < parts.length) lookAtBlock(top, view, parts, block, essential, accept)
  }
}

/** The first from this one on in which any of some lists of few documents has one. */
function nextBlock(parts: Part[], from: number): number {
  let next = Number.POSITIVE_INFINITY
  for (const part of parts) {
    const docs = part.list.docs!
    while (part.at < docs.length && docs[part.at]! >>> BLOCK_SHIFT < from) part.at++
    if (part.at < docs.length) next = Math.min(next, docs[part.at]! >>> BLOCK_SHIFT)
  }
  return next
}

/** Those before this one cannot reach the floor in this block, not even together. */
function firstEssential(parts: Part[], block: number, floor: number): number {
  const from = block << BLOCK_SHIFT
  let sum = 0
  let essential = parts.length
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index]!
    const { docs, count, max, maxes } = part.list
    if (docs === undefined) sum += part.weight * maxes[block]!
    else {
      let at = part.at
      while (at < count && docs[at]! < from) at++
      part.at = at
      if (at < count && docs[at]! < from + BLOCK_DOCS) sum += part.weight * max
    }
    part.blockSum = sum
    if (sum >= floor && essential === parts.length) essential = index
  }
  return essential
}

function lookAtBlock(top: Top, view: number, parts: Part[], block: number, essential: number, accept: Accept): void {
  const from = block << BLOCK_SHIFT
  const rest = essential === 0 ? 0 : parts[essential - 1]!.blockSum
  let count = 0
  for (let index = essential; index < parts.length; index++) count = addUp(parts[index]!, block, count)
  const isMany = count > BLOCK_DOCS
  for (let at = 0; at < (isMany ? BLOCK_DOCS : count); at++) {
    const place = isMany ? at : touched[at]!
    let score = sums[place]!
    sums[place] = 0
    if (score === 0 || score + rest < top.floor || !accept(from + place)) continue
    for (let other = essential - 1; other >= 0; other--) {
      const part = parts[other]!
      if (score + part.blockSum < top.floor) break
      score += part.weight * impactIn(part.list, from + place)
    }
    if (score >= top.floor) top.push(score, view, from + place)
  }
}

/** How many documents are in `touched`; more than a block has means that nobody counted. */
function addUp(part: Part, block: number, already: number): number {
  const { docs, places, impacts, starts } = part.list
  const { weight } = part
  const from = block << BLOCK_SHIFT
  let count = already
  if (docs !== undefined) {
    for (let at = part.at; at < docs.length && docs[at]! < from + BLOCK_DOCS; at++) {
      const place = docs[at]! - from
      if (sums[place] === 0 && count <= BLOCK_DOCS) touched[count++] = place
      sums[place]! += weight * impacts[at]!
    }
    return count
  }
  if (places === undefined) {
    const end = Math.min(BLOCK_DOCS, impacts.length - from)
    for (let place = 0; place < end; place++) sums[place]! += weight * impacts[from + place]!
    return BLOCK_DOCS + 1
  }
  const end = starts[block + 1]!
  if (count > BLOCK_DOCS || end - starts[block]! > MANY_POSTINGS) {
    for (let at = starts[block]!; at < end; at++) sums[places[at]!]! += weight * impacts[at]!
    return BLOCK_DOCS + 1
  }
  for (let at = starts[block]!; at < end; at++) {
    const place = places[at]!
    if (sums[place] === 0) touched[count++] = place
    sums[place]! += weight * impacts[at]!
  }
  return count
}
