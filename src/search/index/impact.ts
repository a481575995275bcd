/** BM25 with its parts taken apart: what a word is worth in a document is one byte, what it is worth at all is asked late. */
const K1 = 1.2
const B = 0.75
/** Frozen: bytes that are written stay comparable with bytes that come later. Another value needs a new index. */
export const AVERAGE_LENGTH = 196
export const MAX_LENGTH = 65_535
/** What the largest byte stands for, before it is multiplied by the idf. */
export const FULL_SCORE = K1 + 1

const saturation = (length: number) => K1 * (1 - B + (B * length) / AVERAGE_LENGTH)

/** At least 1: a word that occurs is never written as one that does not. */
export function impactOf(count: number, length: number): number {
  const byte = Math.round((255 * count) / (count + saturation(length)))
  return byte < 1 ? 1 : byte
}

/** The weighted count that such a byte stands for, as well as a byte can tell. */
export function countOf(impact: number, length: number): number {
  const share = Math.min(impact, 254.5) / 255
  return (saturation(length) * share) / (1 - share)
}

export const idfOf = (documents: number, having: number) => Math.log(1 + (documents - having + 0.5) / (having + 0.5))
