import type { EngineHit } from "../index/engine.ts"

/** A possible result: its best hit, the hits behind it, and a score that ranking changes. */
export interface Candidate extends EngineHit {
  hits: readonly EngineHit[]
}

/** Best first; newer first among equals, so that both databases agree. */
export const byScore = (a: Candidate, b: Candidate) => b.score - a.score || b.atMs - a.atMs || b.ref - a.ref
