import type { Engine, EngineHit } from "../index/engine.ts"
import type { Candidate } from "./candidate.ts"

export interface FoldedWord {
  word: string
  weight: number
}

/** As the engine's own, at the length of an exchange. */
const K1 = 1.2
const B = 0.75
const AVERAGE_WORDS = 400

/**
 * Turns that fit, folded to the exchanges they are in. An exchange is scored anew as one text: words of a question that
 * are spread over prompt and reply count together, and a word that ten tool calls repeat does not count ten times.
 */
export async function foldToExchanges(
  engine: Engine,
  hits: readonly EngineHit[],
  words: readonly FoldedWord[],
): Promise<Candidate[]> {
  const groups = [...Map.groupBy(hits, groupKey).values()]
  const members = groups.map(([first]) =>
    first!.kind === "thought" ? [first!.ref] : engine.docsOfExchange(first!.sessionId, first!.exchange),
  )
  const refs = members.flat()
  const [weights, inverse] = await Promise.all([
    engine.weights(
      refs,
      words.map(({ word }) => word),
    ),
    engine.inverseFrequencies(words.map(({ word }) => word)),
  ])
  let at = 0
  return groups.map((group, index) => {
    const count = members[index]!.length
    const length = members[index]!.reduce((sum, ref) => sum + engine.look(ref)!.length, 0)
    const norm = K1 * (1 - B + (B * length) / AVERAGE_WORDS)
    let score = 0
    for (const [w, { weight }] of words.entries()) {
      let frequency = 0
      for (let doc = at; doc < at + count; doc++) frequency += weights[w]![doc]!
      if (frequency > 0) score += (weight * inverse[w]! * frequency * (K1 + 1)) / (frequency + norm)
    }
    at += count
    const best = group.reduce((a, b) => (b.score > a.score ? b : a))
    return { ...best, score, hits: group }
  })
}

const groupKey = ({ sessionId, kind, exchange }: EngineHit) =>
  `${sessionId} ${kind === "thought" ? "thought " : ""}${exchange}`
