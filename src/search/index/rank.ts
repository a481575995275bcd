import { Blocks } from "./blocks.ts"
import type { Docs } from "./docs.ts"
import { impactIn, lookUpSteps, type PostingList, someDoc } from "./posting-list.ts"
import { type ScoredDoc, Top } from "./top.ts"

export interface RankRequest {
  views: readonly { docs: Docs }[]
  /** A posting list or none per view. Integer weights make sums exact, so their order does not matter. */
  terms: readonly { weight: number; lists: readonly (PostingList | undefined)[] }[]
  /** Posting lists of required words, by view. */
  required: readonly (readonly (PostingList | undefined)[])[]
  accepts(view: number): Accept | undefined
  /** All acceptable documents of the view, if they are known and few. */
  only(view: number): ArrayLike<number> | undefined
  limit: number
}

export type Accept = (doc: number) => boolean

export interface WeightedPostings {
  list: PostingList
  weight: number
  /** The upper bound of this list and all before it. */
  sum: number
}

/** Up to this many candidates, a conjunction scores each; beyond, blocks are skipped. */
const CONJUNCTION_DOCS = 2_048

/** Exact, including ties. */
export function rank(request: RankRequest): ScoredDoc[] {
  const { views } = request
  const top = new Top(
    request.limit,
    views.map((view) => view.docs),
  )
  const blocks = new Blocks()
  for (const [view, { docs }] of views.entries()) {
    const accept = request.accepts(view)
    const parts = accept ? partsOf(request, view) : []
    if (!accept || parts.length === 0) continue
    const required = request.required.flatMap((lists) => lists[view] ?? []).sort((a, b) => a.count - b.count)
    if (required.length < request.required.length) continue
    const only = request.only(view)
    if (required.length > 0 && required[0]!.count <= CONJUNCTION_DOCS) conjunction(top, view, parts, required, accept)
    else if (only && isCheaper(only.length, parts)) probe(top, view, parts, only, requireAll(required, accept))
    else blocks.add(view, docs.size, parts, accept, required)
  }
  blocks.search(top)
  return top.found()
}

function partsOf({ terms }: RankRequest, view: number): WeightedPostings[] {
  const parts: WeightedPostings[] = []
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

/** The exact score, or -1 once it cannot reach the floor. */
function scoreIn(parts: WeightedPostings[], doc: number, floor: number): number {
  let score = 0
  for (let at = parts.length - 1; at >= 0; at--) {
    const part = parts[at]!
    if (score + part.sum < floor) return -1
    score += part.weight * impactIn(part.list, doc)
  }
  return score
}

function isCheaper(docs: number, parts: WeightedPostings[]): boolean {
  let byLookUp = 0
  let byList = 0
  for (const { list } of parts) {
    byLookUp += docs * lookUpSteps(list)
    byList += list.count
  }
  return byLookUp < byList
}

function probe(top: Top, view: number, parts: WeightedPostings[], docs: ArrayLike<number>, accept: Accept): void {
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!
    const score = scoreIn(parts, doc, top.floor)
    if (score >= top.floor && accept(doc)) top.push(score, view, doc)
  }
}

/** Documents of the shortest required list that are in the others too. */
function conjunction(
  top: Top,
  view: number,
  parts: WeightedPostings[],
  [rarest, ...others]: PostingList[],
  accept: Accept,
): void {
  someDoc(rarest!, (doc) => {
    for (const list of others) if (impactIn(list, doc) === 0) return false
    const score = scoreIn(parts, doc, top.floor)
    if (score >= top.floor && accept(doc)) top.push(score, view, doc)
    return false
  })
}

function requireAll(required: readonly PostingList[], accept: Accept): Accept {
  if (required.length === 0) return accept
  return (doc) => {
    for (const list of required) if (impactIn(list, doc) === 0) return false
    return accept(doc)
  }
}
