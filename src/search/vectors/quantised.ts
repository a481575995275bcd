import type { StoredVector } from "../../domain/vector-tables.ts"

type Quantised = Pick<StoredVector, "values" | "scale">

/** A quarter of the space, with no noticeable change of ranks. */
export function quantise(vector: Float32Array): Quantised {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const scale = largest / 127
  return { values: Int8Array.from(vector, (value) => (scale === 0 ? 0 : Math.round(value / scale))), scale }
}

export const isZero = ({ scale }: Quantised) => scale === 0

/** For a unit query. The scale cancels out. */
export function cosine(query: Float32Array, { values }: Quantised): number {
  let product = 0
  let square = 0
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!
    product += query[at]! * value
    square += value * value
  }
  return square === 0 ? 0 : product / Math.sqrt(square)
}
