import type { Engine, EngineFilter } from "../index/engine.ts"
import { fuse } from "../vectors/fuse.ts"
import type { Vectors } from "../vectors/vectors.ts"
import type { Candidate } from "./candidate.ts"
import { refOfTurn } from "./refs.ts"

/** As many as may come in by meaning alone. */
const NEAREST = 50
/** An embedder that is slow, or asleep, must not make a search slow. */
const MAX_MS = 1_000

/** Adds what is near by meaning to what was found by words, with a small share. */
export async function withMeaning(
  candidates: Candidate[],
  { engine, vectors, query, filter }: { engine: Engine; vectors: Vectors; query: string; filter: EngineFilter },
): Promise<Candidate[]> {
  const said = candidates.filter(({ kind }) => kind !== "thought")
  // Asked of every vector there is, where the filter leaves only few.
  const fits = engine.fitting(filter)
  const near = await vectors.search(query, NEAREST, {
    accept: (exchange) => fits(refOfTurn(exchange)),
    also: said.map(({ exchange }) => exchange),
    signal: AbortSignal.timeout(MAX_MS),
  })
  if (!near) return candidates
  const top = candidates.reduce((best, { score }) => Math.max(best, score), 0) || 1
  const byExchange = new Map(said.map((candidate) => [candidate.exchange, candidate]))
  const fused = fuse(said, near).flatMap(({ exchange, score }) => {
    const known = byExchange.get(exchange)
    if (known) return [{ ...known, score: score * top }]
    const prompt = engine.info(refOfTurn(exchange))
    return prompt ? [{ ...prompt, score: score * top, hits: [] }] : []
  })
  return [...fused, ...candidates.filter(({ kind }) => kind === "thought")]
}
