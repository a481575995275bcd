import { countOf, idfOf } from "./impact.ts"
import type { IndexState, View } from "./index-state.ts"
import { impactIn } from "./posting-list.ts"

/** Exchanges or single documents, each scored as one text. */
export interface ExchangeCounts {
  /** The idf by word. */
  inverse: number[]
  exchanges: {
    length: number
    /** Weighted counts by word, with the precision of a byte. */
    counts: Float64Array
  }[]
}

export interface DocPlace {
  view: number
  doc: number
  ref: number
}

export function exchangeCounts(
  state: IndexState,
  of: readonly { sessionId: string; exchange: number; ref: number; isAlone: boolean }[],
  words: readonly string[],
): ExchangeCounts {
  const { views, lists } = state.load(words)
  const documents = views.reduce((sum, view) => sum + view.docs.size, 0)
  const inverse = lists.map((found) => {
    const having = found.reduce((sum, list) => sum + (list?.count ?? 0), 0)
    return having === 0 ? 0 : idfOf(documents, having)
  })
  const exchanges = of.map(({ sessionId, exchange, ref, isAlone }) => {
    const places = isAlone ? placeOf(views, ref) : placesOf(state, views, sessionId, exchange)
    const counts = new Float64Array(words.length)
    let length = 0
    for (const { view, doc } of places) {
      const own = views[view]!.docs.length[doc]!
      length += own
      for (let word = 0; word < counts.length; word++) {
        const list = lists[word]![view]
        const impact = list ? impactIn(list, doc) : 0
        if (impact > 0) counts[word]! += countOf(impact, own)
      }
    }
    return { length, counts }
  })
  return { inverse, exchanges }
}

function placeOf(views: readonly View[], ref: number): DocPlace[] {
  const view = views.findIndex((each) => each.find(ref) >= 0)
  return view < 0 ? [] : [{ view, doc: views[view]!.find(ref), ref }]
}

/** Sorted by ref, so that floating-point sums do not depend on the segments. */
export function placesOf(state: IndexState, views: readonly View[], sessionId: string, exchange: number): DocPlace[] {
  const session = state.sessions.numberOf(sessionId)
  const places: DocPlace[] = []
  if (session === undefined) return places
  let isAscending = true
  for (let view = 0; view < views.length; view++) {
    const own: ArrayLike<number> = views[view]!.docsOfExchange(session, exchange)
    if (own.length === 0) continue
    const { docs } = views[view]!
    for (let at = 0; at < own.length; at++) {
      const doc = own[at]!
      if (docs.isRemoved(doc)) continue
      const ref = docs.ref[doc]!
      if (places.length > 0 && places[places.length - 1]!.ref > ref) isAscending = false
      places.push({ view, doc, ref })
    }
  }
  return isAscending ? places : places.sort((a, b) => a.ref - b.ref)
}
