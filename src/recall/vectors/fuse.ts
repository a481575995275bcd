import type { VectorHit } from "../../domain/vector-tables.ts"

export interface Fused {
  exchange: number
  score: number
  /** Zero for what only the vectors found. */
  lexical: number
}

/**
 * Adds a small share of the cosine to the score by words. Ranks are not mixed: reciprocal rank fusion makes a weak list as
 * strong as a good one, and lost up to twelve points of recall in every test (docs/adr/0015).
 */
export function fuse(
  lexical: readonly { exchange: number; score: number }[],
  vector: readonly VectorHit[],
  weight = 0.3,
): Fused[] {
  const top = Math.max(0, ...lexical.map(({ score }) => score))
  const cosines = new Map(vector.map(({ exchange, score }) => [exchange, clamp(score)]))
  // What has no vector yet, or was too far down to be listed, is not worse than the last that is listed.
  const floor = Math.min(1, ...cosines.values())
  const words = new Map(lexical.map(({ exchange, score }) => [exchange, top === 0 ? 0 : clamp(score / top)]))
  return [...new Set([...words.keys(), ...cosines.keys()])]
    .map((exchange) => {
      const byWords = words.get(exchange) ?? 0
      const byVector = cosines.get(exchange) ?? (cosines.size === 0 ? 0 : floor)
      return { exchange, score: byWords + weight * byVector, lexical: byWords }
    })
    .sort((a, b) => b.score - a.score || b.lexical - a.lexical || b.exchange - a.exchange)
}

const clamp = (value: number) => Math.min(1, Math.max(0, value))
