import { isAscii, plainPhrase, unescaped } from "./plain-phrase.ts"
import { folded } from "./scripts.ts"

/** Whether a text has these words in sequence, ignoring punctuation, case and accents. */
export function containsPhrase(text: string, phrase: string): boolean {
  if (isAscii(text) && isAscii(phrase)) return plainOf(phrase)?.(text) ?? false
  return phraseAt(text, phrase, 0) !== null
}

/** The first occurrence from `from` on. */
export function phraseAt(text: string, phrase: string, from: number): [number, number] | null {
  const pattern = (isBeyondAscii(text) || isBeyondAscii(phrase) ? widePatternOf : asciiPatternOf)(phrase)
  if (pattern === null) return null
  return firstMatch(pattern, text, from) ?? (text.includes("\\") ? firstMatch(pattern, unescaped(text), from) : null)
}

/** Cuts a phrase to the words that are tested. */
export function cutPhrase(phrase: string): string {
  RUN.lastIndex = 0
  let end = 0
  for (let runs = 0; runs < MOST_PHRASE_WORDS; runs++) {
    const run = RUN.exec(phrase)
    if (run === null) return phrase
    end = RUN.lastIndex
  }
  const isLast = RUN.exec(phrase) === null
  return isLast ? phrase : phrase.slice(0, end)
}

export const MOST_PHRASE_WORDS = 64
const REMEMBERED = 32

/** Letters beyond ASCII, as opposed to dashes and curly quotes. */
const BEYOND_ASCII = /[\u00aa-\u1fff\u2c00-\uffff]/
const isBeyondAscii = (text: string) => !isAscii(text) && BEYOND_ASCII.test(text)
const RUN = /[\p{L}\p{N}\p{M}]+/gu
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

const asciiPatternOf = cached(asciiPattern)
const widePatternOf = cached(widePattern)
const plainOf = cached(plainPhrase)

/** The same few phrases are searched in thousands of texts. Null for a phrase without words. */
function cached<T>(make: (runs: readonly string[]) => T): (phrase: string) => T | null {
  const known = new Map<string, T | null>()
  return (phrase) => {
    const before = known.get(phrase)
    if (before !== undefined) return before
    if (known.size >= REMEMBERED) known.clear()
    const runs = cutPhrase(phrase).match(RUN)
    const made = runs && make(runs)
    known.set(phrase, made)
    return made
  }
}

function firstMatch(pattern: RegExp, text: string, from: number): [number, number] | null {
  pattern.lastIndex = from
  const found = pattern.exec(text)
  return found && [found.index, found.index + found[0].length]
}

// Linear time for any input: words and the gaps between them share no characters, so there is only one way to match.
function asciiPattern(runs: readonly string[]): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])${runs.join("[^A-Za-z0-9]+")}(?![A-Za-z0-9])`, "gi")
}

function widePattern(runs: readonly string[]): RegExp {
  const before = UNSPACED.test(String.fromCodePoint(runs[0]!.codePointAt(0)!)) ? "" : "(?<![\\p{L}\\p{N}])"
  const after = UNSPACED.test([...runs.at(-1)!].at(-1)!) ? "" : "(?![\\p{L}\\p{N}\\p{M}])"
  const between = "[^\\p{L}\\p{N}\\p{M}][^\\p{L}\\p{N}]*"
  return new RegExp(before + runs.map(wideRun).join(between) + after, "giu")
}

/** Matches any accents. */
function wideRun(run: string): string {
  const chars = [...run.normalize("NFC")].filter((char) => folded(char) !== "")
  return chars
    .map((char, i) => {
      const mayHaveMarks = LETTER.test(char) && !MARK.test(chars[i + 1] ?? "")
      return wideChar(char) + (mayHaveMarks ? "\\p{Mn}*" : "")
    })
    .join("")
}

function wideChar(char: string): string {
  const plain = folded(char)
  if ([...plain].length > 1) return `(?:${plain}|${char})`
  return ACCENTED.get(plain) ?? (plain === char ? char : `[${plain}${char}]`)
}

const LETTER = /\p{L}/u
const MARK = /\p{M}/u

/** Letter → a character class of its accented forms. */
const ACCENTED: ReadonlyMap<string, string> = accented()

function accented(): Map<string, string> {
  const groups = new Map<string, string>()
  for (const [first, last] of [
    [0xc0, 0x24f],
    [0x370, 0x52f],
    [0x1e00, 0x1fff],
  ] as const)
    for (let code = first; code <= last; code++) {
      const char = String.fromCharCode(code)
      const base = folded(char)
      if (base !== char && base.length === 1 && LETTER.test(base) && LETTER.test(char))
        groups.set(base, (groups.get(base) ?? base) + char)
    }
  return new Map([...groups].map(([base, chars]) => [base, `[${chars}]`]))
}
