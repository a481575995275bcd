import type { Engine, EngineFilter } from "../index/engine.ts"
import { fuse } from "../vectors/fuse.ts"
import type { Vectors } from "../vectors/vectors.ts"
import type { Candidate } from "./candidate.ts"
import { refOfTurn } from "./refs.ts"

/** The maximum of hits found by meaning alone. */
const NEAREST = 50
/** A slow or sleeping embedder must not slow down a search. */
const MAX_MS = 1_000

/** Fuses semantic hits into the lexical ones, with a small weight. */
export async function withMeaning(
  candidates: Candidate[],
  { engine, vectors, query, filter }: { engine: Engine; vectors: Vectors; query: string; filter: EngineFilter },
): Promise<Candidate[]> {
  const said = candidates.filter(({ kind }) => kind !== "thought")
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
