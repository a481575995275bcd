import type { Docs } from "./docs.ts"
import { impactIn, type List, lookUpSteps, someDoc } from "./list.ts"
import { MAX_SEGMENT_DOCS } from "./segment.ts"
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
  /** The most that this list and all before it can add. */
  sum: number
}

/** Enough to find out roughly what the best documents score. */
const PRIMING_DOCS = 300
/** From this share of the documents on, looking at all of them costs less than keeping a list of those with a word. */
const MANY = 1 / 8
const sums = new Int32Array(MAX_SEGMENT_DOCS)
const touched = new Uint32Array(MAX_SEGMENT_DOCS)

/**
 * MaxScore: the words that cannot lift a document into the best by themselves are only looked up in documents that other
 * words have brought up. Exact: nothing that could win, be it by a tie, is left out.
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
    if (list) parts.push({ list, weight, sum: 0 })
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
  let essential = 0
  while (parts[essential]!.sum < top.floor) essential++
  const rest = essential === 0 ? 0 : parts[essential - 1]!.sum
  const consider = (doc: number, sum: number) => {
    let score = sum
    if (!accept(doc)) return
    for (let other = essential - 1; other >= 0; other--) {
      const part = parts[other]!
      if (score + part.sum < top.floor) break
      score += part.weight * impactIn(part.list, doc)
    }
    if (score >= top.floor) top.push(score, view, doc)
  }
  let postings = 0
  for (let at = essential; at < parts.length; at++) postings += parts[at]!.list.count
  if (postings > size * MANY) {
    for (let at = essential; at < parts.length; at++) addToAll(parts[at]!)
    for (let doc = 0; doc < size; doc++) {
      const sum = sums[doc]!
      if (sum !== 0 && sum + rest >= top.floor) consider(doc, sum)
    }
    sums.fill(0, 0, size)
    return
  }
  let count = 0
  for (let at = essential; at < parts.length; at++) count = addUp(parts[at]!, count)
  for (let at = 0; at < count; at++) {
    const doc = touched[at]!
    const sum = sums[doc]!
    sums[doc] = 0
    if (sum + rest >= top.floor) consider(doc, sum)
  }
}

function addToAll({ list, weight }: Part): void {
  const { docs, impacts, starts, shift } = list
  if (!docs) for (let doc = 0; doc < impacts.length; doc++) sums[doc]! += weight * impacts[doc]!
  else
    for (let block = 0; block + 1 < starts.length; block++) {
      const first = block << shift
      const end = starts[block + 1]!
      for (let at = starts[block]!; at < end; at++) sums[first + docs[at]!]! += weight * impacts[at]!
    }
}

/** Only of a list with documents of its own: one with an impact for all is too long to come here. */
function addUp({ list, weight }: Part, already: number): number {
  const { impacts, starts, shift } = list
  const docs = list.docs!
  let count = already
  for (let block = 0; block + 1 < starts.length; block++) {
    const first = block << shift
    const end = starts[block + 1]!
    for (let at = starts[block]!; at < end; at++) {
      const doc = first + docs[at]!
      const before = sums[doc]!
      if (before === 0) touched[count++] = doc
      sums[doc] = before + weight * impacts[at]!
    }
  }
  return count
}
