import type { VectorHit } from "../../domain/vector-tables.ts"

export interface Fused {
  exchange: number
  score: number
  /** Zero for hits of vectors only. */
  lexical: number
}

/**
 * Adds a small share of the cosine to the keyword score. No rank fusion: reciprocal rank fusion makes a weak list as
 * strong as a good one, and lost up to twelve points of recall in every test (docs/adr/0015).
 */
export function fuse(
  lexical: readonly { exchange: number; score: number }[],
  vector: readonly VectorHit[],
  weight = 0.3,
): Fused[] {
  const top = Math.max(0, ...lexical.map(({ score }) => score))
  const words = new Map(lexical.map(({ exchange, score }) => [exchange, top === 0 ? 0 : clamp(score / top)]))
  const cosines = new Map(vector.map(({ exchange, score }) => [exchange, clamp(score)]))
  const unknown = mean([...words.keys()].flatMap((exchange) => cosines.get(exchange) ?? []))
  return [...new Set([...words.keys(), ...cosines.keys()])]
    .map((exchange) => {
      const byWords = words.get(exchange) ?? 0
      // A missing vector must neither help nor harm.
      return { exchange, score: byWords + weight * (cosines.get(exchange) ?? unknown), lexical: byWords }
    })
    .sort((a, b) => b.score - a.score || b.lexical - a.lexical || b.exchange - a.exchange)
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
const clamp = (value: number) => Math.min(1, Math.max(0, value))
