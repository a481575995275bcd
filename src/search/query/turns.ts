import { lowerBound } from "../../lib/lower-bound.ts"
import type { DocInfo, Engine, EngineHit } from "../index/engine.ts"
import type { Candidate } from "./candidate.ts"

/**
 * Score that a turn lends to its neighbours: in a chat of short turns, an answer often repeats no word of its question.
 * Half of the values that were best on one public set, because the full values lost first places on another.
 */
const LENT_BACK = [0.15, 0.05]
const LENT_ON = [0.2, 0.15]
/** Longer turns speak for themselves: they neither lend nor borrow. */
const LONG_WORDS = 100
/** Only the best hits lend. */
const LENDERS = 100

/** Adds a share of the neighbours' scores to each turn. Neighbours that did not match become candidates this way. */
export function smoothTurns(
  engine: Engine,
  hits: readonly EngineHit[],
  accepts: (doc: DocInfo) => boolean,
): Candidate[] {
  const found = new Map<number, Candidate>(hits.map((hit) => [hit.ref, { ...hit, hits: [hit] }]))
  const lend = (from: EngineHit, ref: number | undefined, share: number) => {
    if (ref === undefined) return
    let to = found.get(ref)
    if (!to) {
      const neighbour = engine.info(ref)
      if (!neighbour || !accepts(neighbour)) return
      to = { ...neighbour, score: 0, hits: [] }
      found.set(ref, to)
    }
    to.score += from.score * share * shortness(from) * shortness(to)
  }
  const said = new Map<string, number[]>()
  for (const hit of hits.slice(0, LENDERS)) {
    if (shortness(hit) === 0) continue
    const refs = said.get(hit.sessionId) ?? engine.said(hit.sessionId)
    said.set(hit.sessionId, refs)
    const at = lowerBound(refs.length, (place) => refs[place]! < hit.ref)
    if (refs[at] !== hit.ref) continue
    for (const [index, share] of LENT_BACK.entries()) lend(hit, refs[at - 1 - index], share)
    for (const [index, share] of LENT_ON.entries()) lend(hit, refs[at + 1 + index], share)
  }
  return [...found.values()]
}

/** 1 for a few words, 0 for a long text. */
export const shortness = ({ length }: { length: number }) =>
  Math.min(1, Math.max(0, (2 * (LONG_WORDS - length)) / LONG_WORDS))
