import type { Engine, EngineHit } from "../index/engine.ts"
import { byScore, type Candidate } from "./candidate.ts"

export interface FoldedWord {
  word: string
  weight: number
}

/** BM25 parameters of the engine, for the length of an exchange. */
const K1 = 1.2
const B = 0.75
const AVERAGE_WORDS = 400
/** Weight of the whole exchange against its best turn. More helps bench/coding and hurts the known items of bench/search. */
const WHOLE_SHARE = 0.3
/** Candidates beyond these cannot reach the first page this way. */
const FOLDED = 40

/**
 * Groups hits by exchange and scores each exchange as one text too: query words spread over prompt and reply count
 * together, and a word that ten tool calls repeat does not count ten times.
 */
export function foldToExchanges(engine: Engine, hits: readonly EngineHit[], words: readonly FoldedWord[]): Candidate[] {
  const candidates = [...Map.groupBy(hits, groupKey).values()]
    .map((group): Candidate => {
      const best = group.reduce((a, b) => (b.score > a.score ? b : a))
      return { ...best, score: best.score * (1 - WHOLE_SHARE), hits: group }
    })
    .sort(byScore)
  const folded = candidates.slice(0, FOLDED)
  const scores = exchangeScores(engine, folded, words)
  for (const [index, candidate] of folded.entries()) candidate.score += WHOLE_SHARE * scores[index]!
  return candidates
}

function exchangeScores(engine: Engine, candidates: readonly Candidate[], words: readonly FoldedWord[]): number[] {
  const { inverse, exchanges } = engine.exchangeCounts(
    candidates.map(({ kind, ref, sessionId, exchange }) => {
      return { ref, sessionId, exchange, isAlone: kind === "thought" }
    }),
    words.map(({ word }) => word),
  )
  return exchanges.map(({ length, counts }) => {
    const norm = K1 * (1 - B + (B * length) / AVERAGE_WORDS)
    let score = 0
    for (const [index, { weight }] of words.entries()) {
      const count = counts[index]!
      if (count > 0) score += (weight * inverse[index]! * count * (K1 + 1)) / (count + norm)
    }
    return score
  })
}

const groupKey = ({ sessionId, kind, exchange }: EngineHit) =>
  `${sessionId} ${kind === "thought" ? "thought " : ""}${exchange}`
