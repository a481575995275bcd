import type { EmbeddedAs, Embedder } from "../../../domain/embedder.ts"
import { type BatchLimits, batchesOf } from "./batches.ts"
import { prefixesOf } from "./prefixes.ts"

export interface Model {
  /** The prefix of the id, such as `ollama`. */
  family: string
  name: string
  /** What else changes the space, such as the precision of the weights. */
  variant?: string | undefined
  /** From the settings, or else from the model. */
  dimension?: number | undefined
  limits: BatchLimits
  /** One vector per text, in order; unchecked. */
  ask(texts: string[], signal?: AbortSignal): Promise<ArrayLike<number>[]>
  /** For an unexpected answer. */
  refused(why: string): Error
}

/** Shared by all models: prefixes, batches, and a check of every vector. */
export async function embedderOf(model: Model, signal?: AbortSignal): Promise<Embedder> {
  const prefixes = prefixesOf(model.name)
  const dimension = model.dimension ?? (await probe(model, signal))
  return {
    id: [model.family, model.name, dimension, model.variant, prefixes.document.replaceAll(/[: ]/g, "")]
      .filter((part) => part !== undefined && part !== "")
      .join(":"),
    dimension,
    async embed(texts, as: EmbeddedAs, signal) {
      const vectors = texts.map(() => new Float32Array(dimension))
      // Servers reject empty texts; they get the zero vector.
      const asked = texts.flatMap((text, index) => (text.trim() === "" ? [] : [index]))
      const batches = batchesOf(
        asked.map((index) => prefixes[as] + texts[index]),
        model.limits,
      )
      let done = 0
      for (const batch of batches) {
        signal?.throwIfAborted()
        const answer = await model.ask(batch, signal)
        if (answer.length !== batch.length)
          throw model.refused(`answers ${answer.length} vectors for ${batch.length} texts`)
        for (const numbers of answer) fill(model, vectors[asked[done++]!]!, numbers)
      }
      return vectors
    },
  }
}

async function probe(model: Model, signal?: AbortSignal): Promise<number> {
  const [numbers] = await model.ask(["dimension"], signal)
  if (!numbers || numbers.length === 0) throw model.refused("answers no vector")
  return numbers.length
}

/** Normalised, so that the dot product is the cosine. */
function fill(model: Model, vector: Float32Array, numbers: ArrayLike<number>): void {
  if (numbers.length !== vector.length)
    throw model.refused(`answers vectors of ${numbers.length} numbers instead of ${vector.length}`)
  let square = 0
  for (let i = 0; i < numbers.length; i++) square += numbers[i]! * numbers[i]!
  const norm = Math.sqrt(square)
  if (!Number.isFinite(norm)) throw model.refused("answers vectors with something in them that is not a number")
  if (norm === 0) return
  for (let i = 0; i < numbers.length; i++) vector[i] = numbers[i]! / norm
}
