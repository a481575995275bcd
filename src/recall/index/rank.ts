import type { Docs } from "./docs.ts"
import { impactIn, type List, lookUpSteps } from "./list.ts"
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
const sums = new Int32Array(65_536)
const touched = new Uint16Array(65_536)

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
    else accumulate(top, view, here, accept)
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
      if (!list || !accept) continue
      for (let next = 0; next < (list.docs ? list.count : list.impacts.length) && left > 0; next++) {
        const doc = list.docs ? list.docs[next]! : next
        if (!list.docs && list.impacts[doc] === 0) continue
        left--
        if (before.some((earlier) => earlier[view] && impactIn(earlier[view], doc) > 0) || !accept(doc)) continue
        scores.push(scoreIn(parts[view]!, doc, 0))
      }
    }
    if (left <= 0) break
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
  const length = rarest.docs ? rarest.count : rarest.impacts.length
  for (let at = 0; at < length; at++) {
    const doc = rarest.docs ? rarest.docs[at]! : at
    if (rarest.impacts[at] === 0 || !others.every((list) => impactIn(list, doc) > 0)) continue
    const score = scoreIn(parts, doc, top.floor)
    if (score >= top.floor && accept(doc)) top.push(score, view, doc)
  }
}

function accumulate(top: Top, view: number, parts: Part[], accept: Accept): void {
  let essential = 0
  while (parts[essential]!.sum < top.floor) essential++
  let count = 0
  for (let at = essential; at < parts.length; at++) count = addUp(parts[at]!, count)
  const rest = essential === 0 ? 0 : parts[essential - 1]!.sum
  for (let at = 0; at < count; at++) {
    const doc = touched[at]!
    let score = sums[doc]!
    sums[doc] = 0
    if (score + rest < top.floor || !accept(doc)) continue
    for (let other = essential - 1; other >= 0; other--) {
      const part = parts[other]!
      if (score + part.sum < top.floor) break
      score += part.weight * impactIn(part.list, doc)
    }
    if (score >= top.floor) top.push(score, view, doc)
  }
}

function addUp({ list, weight }: Part, already: number): number {
  let count = already
  const { docs, impacts } = list
  if (docs) {
    for (let at = 0; at < list.count; at++) {
      const doc = docs[at]!
      const before = sums[doc]!
      if (before === 0) touched[count++] = doc
      sums[doc] = before + weight * impacts[at]!
    }
  } else {
    for (let doc = 0; doc < impacts.length; doc++) {
      const impact = impacts[doc]!
      if (impact === 0) continue
      const before = sums[doc]!
      if (before === 0) touched[count++] = doc
      sums[doc] = before + weight * impact
    }
  }
  return count
}
