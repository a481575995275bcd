import type { EngineHit } from "../index/engine.ts"

/** Something that may be shown: its best hit, the hits behind it, and a score that ranking moves. */
export interface Candidate extends EngineHit {
  hits: readonly EngineHit[]
}

/** Best first; among equals the newer one, so that both databases agree. */
export const byScore = (a: Candidate, b: Candidate) => b.score - a.score || b.atMs - a.atMs || b.ref - a.ref
