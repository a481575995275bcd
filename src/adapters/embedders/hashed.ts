import * as z from "zod"
import type { EmbedderAdapter } from "../../domain/embedder.ts"
import { nextTurn } from "../../lib/clock.ts"

const settings = z.strictObject({
  kind: z.literal("hashed"),
  dimension: z.int().min(64).max(4096).default(384).describe("How many numbers a vector has"),
})

/** Must change when the same text gets another vector. */
const VERSION = 1
const GRAM_LENGTHS = [3, 4, 5]
/** A word weighs as much as about this many of its parts. */
const WORD_WEIGHT = 2
/** A few milliseconds: searches run on the same thread. */
const TEXTS_PER_TURN = 8

/**
 * Words and their parts, hashed: no model, nothing to fetch, the same on every machine. It finds misspelt, joined and
 * inflected words, and no meaning beyond that.
 */
export const hashed: EmbedderAdapter<typeof settings> = {
  kind: "hashed",
  settings,
  async open({ dimension }) {
    return {
      id: `hashed:${VERSION}:${dimension}`,
      dimension,
      async embed(texts, _as, signal) {
        const vectors: Float32Array[] = []
        for (const text of texts) {
          signal?.throwIfAborted()
          vectors.push(vectorOf(text, dimension))
          if (vectors.length % TEXTS_PER_TURN === 0) await nextTurn()
        }
        return vectors
      },
    }
  },
}

function vectorOf(text: string, dimension: number): Float32Array {
  const counts = new Map<number, number>()
  const count = (hash: number, weight: number) => counts.set(hash, (counts.get(hash) ?? 0) + weight)
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    count(fnv1a(FNV_BASIS, word, 0, word.length), WORD_WEIGHT)
    // Hashed in place: allocating a string per part took most of the time.
    const bounded = `<${word}>`
    for (const length of GRAM_LENGTHS)
      for (let at = 0; at + length <= bounded.length; at++)
        count(fnv1a(PART_BASIS, bounded, at, at + length), 1 / length)
  }
  const vector = new Float32Array(dimension)
  for (const [hash, weight] of counts) {
    // Sign and place use different bits, so that collisions cancel out on average.
    vector[(hash >>> 1) % dimension]! += (hash & 1 ? 1 : -1) * Math.log1p(weight)
  }
  const norm = Math.hypot(...vector)
  return norm === 0 ? vector : vector.map((value) => value / norm)
}

const FNV_PRIME = 0x01000193
const FNV_BASIS = 0x811c9dc5
/** As if prefixed with #: a part never collides with a word. */
const PART_BASIS = Math.imul(FNV_BASIS ^ 35, FNV_PRIME)

/** FNV-1a with a final mix: without it, the low bits depend on the last character only. */
function fnv1a(basis: number, text: string, from: number, to: number): number {
  let hash = basis
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
