export interface BatchLimits {
  texts: number
  /** Per batch. */
  tokens: number
  /** Per text; longer ones are cut. */
  tokensOfOne: number
}

/** No tokenizer fits every model. Prose has about four characters per token, code about three. */
const CHARS_PER_TOKEN = 3

/** Splits texts into batches that a server accepts, in order. */
export function batchesOf(texts: readonly string[], limits: BatchLimits): string[][] {
  const batches: string[][] = []
  let tokens = Number.POSITIVE_INFINITY
  for (const text of texts) {
    const cut = cutTo(text, limits.tokensOfOne * CHARS_PER_TOKEN)
    const cost = Math.ceil(cut.length / CHARS_PER_TOKEN)
    const last = batches.at(-1)
    if (last && last.length < limits.texts && tokens + cost <= limits.tokens) {
      last.push(cut)
      tokens += cost
    } else {
      batches.push([cut])
      tokens = cost
    }
  }
  return batches
}

/** Never splits a surrogate pair. */
function cutTo(text: string, length: number): string {
  if (text.length <= length) return text
  const isHighHalf = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800
  return text.slice(0, isHighHalf ? length - 1 : length)
}
