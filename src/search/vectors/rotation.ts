export type Rotation = (vector: Float32Array) => Float32Array

const ROUNDS = 4

/**
 * A fixed random rotation, so that every component carries as much information: without it, the signs of sparse
 * vectors, and of models with a few large components, say next to nothing. Angles are preserved.
 */
export function rotationOf(dimension: number): Rotation {
  const random = bits(dimension)
  const flips = Array.from({ length: ROUNDS }, () => Float32Array.from({ length: dimension }, random))
  // The transform needs a power of two: alternate between the first and the last components until all are mixed.
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

/** 1 or -1, in the same sequence everywhere: stored vectors depend on it. */
function bits(seed: number): () => 1 | -1 {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state & 0x10000 ? 1 : -1
  }
}
