export interface BatchLimits {
  texts: number
  /** Of a whole batch. */
  tokens: number
  /** Of one text: what is longer is cut. */
  tokensOfOne: number
}

/** No tokenizer fits every model. Prose has about four characters to a token, code about three. */
const CHARS_PER_TOKEN = 3

/** Runs of texts that a server takes at once, in order. */
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

/** Never in the middle of a surrogate pair: half of one is no text. */
function cutTo(text: string, length: number): string {
  if (text.length <= length) return text
  const isHighHalf = (text.charCodeAt(length - 1) & 0xfc00) === 0xd800
  return text.slice(0, isHighHalf ? length - 1 : length)
}
