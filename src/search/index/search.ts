import type { DocKind } from "../words/document.ts"
import { type DocInfo, infoAt } from "./doc-info.ts"
import { DOC_KINDS, type Docs, isSet } from "./docs.ts"
import { FULL_SCORE, idfOf } from "./impact.ts"
import type { IndexState, View } from "./index-state.ts"
import { impactIn, type PostingList } from "./posting-list.ts"
import { withPrefix } from "./prefix.ts"
import { type Accept, rank } from "./rank.ts"
import { Segment } from "./segment.ts"

export interface EngineQuery {
  words: readonly { word: string; weight: number; isPrefix?: boolean }[]
  /** Groups of required words, such as phrases. They are scored even if `words` lacks them. */
  all?: readonly (readonly string[])[]
  /** Excluded words. */
  none?: readonly string[]
  filter?: EngineFilter
  limit: number
}

export interface EngineFilter {
  sessionIds?: ReadonlySet<string>
  kinds?: ReadonlySet<DocKind>
  /** Inclusive. */
  sinceMs?: number
  /** Exclusive. */
  untilMs?: number
  /** Include rewound turns. */
  hidden?: boolean
}

export interface EngineHit extends DocInfo {
  score: number
}

/** Beyond this, listing their documents costs more than testing the candidates. */
const FEW_SESSIONS = 50
/** The sum of all integer weights; times the largest impact it still fits 31 bits. */
const WEIGHTS_TOTAL = 2 ** 23

export function search(state: IndexState, query: EngineQuery): EngineHit[] {
  if (query.limit < 1) return []
  const weights = expanded(state, query)
  const scored = [...weights.keys()]
  const required = [...new Set(query.all?.flat())]
  const excluded = [...new Set(query.none)]
  if (scored.length === 0) return []
  const { views, lists } = state.load([...scored, ...required, ...excluded])
  const documents = views.reduce((sum, view) => sum + view.docs.size, 0)
  const worths = scored.map((word, at) => {
    const having = lists[at]!.reduce((sum, list) => sum + (list?.count ?? 0), 0)
    return having === 0 ? 0 : weights.get(word)! * idfOf(documents, having)
  })
  const unit = (WEIGHTS_TOTAL - worths.length) / worths.reduce((sum, worth) => sum + worth, 0)
  const terms = worths
    .map((worth, at) => ({ weight: Math.max(1, Math.floor(worth * unit)), lists: lists[at]!, worth }))
    .filter(({ worth }) => worth > 0)
  if (terms.length === 0) return []
  const filter = compile(state, query.filter ?? {})
  const forbidden = lists.slice(scored.length + required.length)
  const found = rank({
    views,
    terms,
    required: lists.slice(scored.length, scored.length + required.length),
    accepts: (view) => filter.accepts(views[view]!.docs, listsIn(forbidden, view)),
    only: (view) => filter.only(views[view]!),
    limit: query.limit,
  })
  return found.map(({ view, doc, score }) => {
    return { ...infoAt(state, views[view]!, doc), score: ((score / unit) * FULL_SCORE) / 255 }
  })
}

/** After this many rejections, evaluating all documents once is faster. */
const MOST_REFUSED = 2_000

/** Tests documents one at a time at first. */
export function fitting(state: IndexState, request: EngineFilter): (ref: number) => boolean {
  const filter = compile(state, request)
  const accepts = new Map<View, Accept | undefined>()
  let refused = filter.isFew ? MOST_REFUSED : 0
  let bits: Uint8Array | undefined
  const looked = (ref: number) => {
    const at = state.find(ref)
    if (!at) return false
    if (!accepts.has(at.view)) accepts.set(at.view, filter.accepts(at.view.docs, []))
    return accepts.get(at.view)?.(at.doc) ?? false
  }
  return (ref) => {
    if (refused < MOST_REFUSED) {
      const fits = looked(ref)
      if (!fits) refused++
      return fits
    }
    bits ??= allFitting(state, filter)
    return ((bits[ref >>> 3] ?? 0) & (1 << (ref & 7))) !== 0
  }
}

/** A bitmap by ref. */
function allFitting(state: IndexState, filter: Filter): Uint8Array {
  const views = [...state.segments, ...state.memtables]
  const most = views.reduce((found, view) => Math.max(found, lastRef(view)), 0)
  const bits = new Uint8Array((most >>> 3) + 1)
  for (const view of views) {
    const accepts = filter.accepts(view.docs, [])
    if (!accepts) continue
    const { ref, size } = view.docs
    const only = filter.only(view)
    for (let at = 0; at < (only?.length ?? size); at++) {
      const doc = only ? only[at]! : at
      if (accepts(doc)) bits[ref[doc]! >>> 3]! |= 1 << (ref[doc]! & 7)
    }
  }
  return bits
}

/** A segment is sorted by ref. */
function lastRef(view: View): number {
  const { ref, size } = view.docs
  return view instanceof Segment ? (ref[size - 1] ?? 0) : ref.subarray(0, size).reduce((a, b) => Math.max(a, b), 0)
}

const listsIn = (lists: readonly (readonly (PostingList | undefined)[])[], view: number) =>
  lists.map((found) => found[view]).filter((list) => list !== undefined)

/** Each word once, with the sum of its weights in the query. */
export function expanded(state: IndexState, query: Pick<EngineQuery, "words" | "all">): Map<string, number> {
  const weights = new Map<string, number>()
  const add = (word: string, weight: number) => weights.set(word, (weights.get(word) ?? 0) + weight)
  for (const { word, weight, isPrefix } of query.words) {
    if (!(weight > 0)) continue
    if (!isPrefix) add(word, weight)
    else for (const longer of withPrefix(state, word)) add(longer, weight)
  }
  for (const word of new Set(query.all?.flat())) if (!weights.has(word)) add(word, 1)
  return weights
}

interface Filter {
  /** Few enough sessions for `only` to list their documents. */
  isFew: boolean
  /** Undefined if nothing can match. */
  accepts(docs: Docs, none: PostingList[]): Accept | undefined
  only(view: { docs: Docs }): number[] | undefined
}

function compile(state: IndexState, { sessionIds, kinds, sinceMs, untilMs, hidden }: EngineFilter): Filter {
  const sessions = sessionIds && [...sessionIds].map((id) => state.sessions.numberOf(id)).filter((n) => n !== undefined)
  const isWanted = sessions && new Uint8Array(state.sessions.end)
  for (const number of sessions ?? []) isWanted![number] = 1
  const isKind = kinds && Uint8Array.from(DOC_KINDS, (kind) => (kinds.has(kind) ? 1 : 0))
  const from = sinceMs ?? Number.NEGATIVE_INFINITY
  const until = untilMs ?? Number.POSITIVE_INFINITY
  const few = new Map<object, number[] | undefined>()
  const isFew = sessions !== undefined && sessions.length <= FEW_SESSIONS
  const only = (view: { docs: Docs }) => {
    if (!isFew || !(view instanceof Segment)) return undefined
    if (!few.has(view))
      few.set(
        view,
        sessions.flatMap((session) => [...view.docsOfSession(session)]),
      )
    return few.get(view)
  }
  return {
    isFew,
    only,
    accepts(docs, none) {
      if (docs.lastMs < from || docs.firstMs >= until || sessions?.length === 0) return undefined
      const { removed, session, kind, atMs } = docs
      return (doc) =>
        !isSet(removed, doc) &&
        (hidden || !isSet(docs.hidden, doc)) &&
        (!isWanted || isWanted[session[doc]!] === 1) &&
        (!isKind || isKind[kind[doc]!] === 1) &&
        atMs[doc]! >= from &&
        atMs[doc]! < until &&
        (none.length === 0 || none.every((list) => impactIn(list, doc) === 0))
    },
  }
}
