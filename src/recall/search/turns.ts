import type { DocLook, Engine, EngineHit } from "../index/engine.ts"
import type { Candidate } from "./candidate.ts"

/**
 * What a turn lends to those around it: an answer often repeats no word of its question. Half of what served one public
 * set best, because on another one the whole of it cost the first place.
 */
const LENT_BACK = [0.15, 0.05]
const LENT_ON = [0.2, 0.15]

/** Single turns, each with a share of its neighbours' scores. Neighbours that did not match come in by that share. */
export function smoothTurns(
  engine: Engine,
  hits: readonly EngineHit[],
  accepts: (doc: DocLook) => boolean,
): Candidate[] {
  const found = new Map<number, Candidate>(hits.map((hit) => [hit.ref, { ...hit, hits: [hit] }]))
  const lend = (from: EngineHit, ref: number | undefined, share: number) => {
    if (ref === undefined) return
    let to = found.get(ref)
    if (!to) {
      const neighbour = engine.look(ref)
      if (!neighbour || !accepts(neighbour)) return
      to = { ...neighbour, score: 0, hits: [] }
      found.set(ref, to)
    }
    to.score += from.score * share
  }
  for (const hit of hits) {
    for (const [index, share] of LENT_BACK.entries()) lend(hit, engine.neighbour(hit.ref, -1 - index), share)
    for (const [index, share] of LENT_ON.entries()) lend(hit, engine.neighbour(hit.ref, 1 + index), share)
  }
  return [...found.values()]
}
