/**
 * Text for a messenger: well-formed, no control characters but line breaks and tabs, nothing that changes the direction
 * of the text.
 */
export function clean(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .replace(COLOUR, "")
    .replace(UNSEEN, "")
}

/** For text that a person has to judge: hidden characters are made visible. */
export function shown(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n/g, "\n")
    .replace(HIDDEN, (char) => `⟨U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`)
}

/** The first line, at most so many characters. */
export function firstLine(text: string, maxChars: number): string {
  const line = clean(text.slice(0, 4_000)).trim().split("\n", 1)[0]!.trim()
  return shorten(line, maxChars)
}

/** Cut with an ellipsis, at a whole grapheme. */
export function shorten(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text
  let end = 0
  for (const { index, segment } of GRAPHEMES.segment(text.slice(0, maxUnits + 64))) {
    if (index + segment.length > maxUnits - 1) break
    end = index + segment.length
  }
  return `${text.slice(0, end).trimEnd()}…`
}

export const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" })

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are meant.
const COLOUR = /\x1b\[[\d;?]{0,16}[A-Za-z]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are meant.
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are meant.
const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu
