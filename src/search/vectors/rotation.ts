export type Rotation = (vector: Float32Array) => Float32Array

const ROUNDS = 4

/**
 * Turns a vector in a fixed, random way, so that every sign tells as much as every other: without it, the signs of sparse
 * vectors, and of models with a few large components, tell next to nothing. Angles between vectors stay what they are.
 */
export function rotationOf(dimension: number): Rotation {
  const random = bits(dimension)
  const flips = Array.from({ length: ROUNDS }, () => Float32Array.from({ length: dimension }, random))
  // The fast transform wants a power of two: alternately the first so many components and the last, until all are mixed.
  const width = 2 ** Math.floor(Math.log2(dimension))
  return (vector) => {
    const turned = Float32Array.from(vector)
    flips.forEach((flip, round) => {
      for (let at = 0; at < dimension; at++) turned[at]! *= flip[at]!
      const from = round % 2 === 0 ? 0 : dimension - width
      hadamard(turned.subarray(from, from + width))
    })
    return turned
  }
}

function hadamard(values: Float32Array): void {
  const { length } = values
  for (let half = 1; half < length; half *= 2) {
    for (let block = 0; block < length; block += half * 2) {
      for (let at = block; at < block + half; at++) {
        const [a, b] = [values[at]!, values[at + half]!]
        values[at] = a + b
        values[at + half] = a - b
      }
    }
  }
  const scale = 1 / Math.sqrt(length)
  for (let at = 0; at < length; at++) values[at]! *= scale
}

/** One or minus one, the same row on every machine: what is stored depends on it. */
function bits(seed: number): () => 1 | -1 {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state & 0x10000 ? 1 : -1
  }
}
