/** BM25 in two parts: the term frequency part is one byte per posting, the idf is computed per query. */
const K1 = 1.2
const B = 0.75
/** Frozen, so that old and new bytes stay comparable. Another value needs a new index. */
export const AVERAGE_LENGTH = 196
export const MAX_LENGTH = 65_535
/** The score of the largest byte, before the idf. */
export const FULL_SCORE = K1 + 1

const saturation = (length: number) => K1 * (1 - B + (B * length) / AVERAGE_LENGTH)

/** At least 1: 0 means that the word does not occur. */
export function impactOf(count: number, length: number): number {
  const byte = Math.round((255 * count) / (count + saturation(length)))
  return byte < 1 ? 1 : byte
}

/** The weighted count for an impact, with the precision of a byte. */
export function countOf(impact: number, length: number): number {
  const share = Math.min(impact, 254.5) / 255
  return (saturation(length) * share) / (1 - share)
}

export const idfOf = (documents: number, having: number) => Math.log(1 + (documents - having + 0.5) / (having + 0.5))
