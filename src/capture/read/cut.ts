/** Longer than any turn seen from an agent; search, display and messages handle whole turns. */
export const MAX_TURN_CHARS = 16 * 1024 * 1024
const KEPT_EACH = 8_000_000
/** Cuts at word boundaries: half of a secret could not be recognised later. */
const LONGEST_WORD = 4_096

/** The beginning and end of an oversized text. Runs after redaction, which may need both ends of a secret. */
export function cutText(text: string): string {
  if (text.length <= MAX_TURN_CHARS) return text
  const [head, tail] = [firstPart(text), lastPart(text)]
  const leftOut = (text.length - head.length - tail.length).toLocaleString("en")
  const mark = `[Throughline left out ${leftOut} characters here: a turn is stored up to 16 MB. The agent's own file has all of it.]`
  return `${head}\n\n${mark}\n\n${tail}`
}

function firstPart(text: string): string {
  const part = text.slice(0, KEPT_EACH)
  const end = part.slice(-LONGEST_WORD).search(/\s\S*$/)
  return end < 0 ? part : part.slice(0, part.length - LONGEST_WORD + end)
}

function lastPart(text: string): string {
  const part = text.slice(-KEPT_EACH)
  const start = part.slice(0, LONGEST_WORD).search(/\s/)
  return start < 0 ? part : part.slice(start + 1)
}
