import { isAscii } from "./plain.ts"
import { plainPhrase, unescaped } from "./plain-phrase.ts"
import { folded } from "./scripts.ts"

/** Whether a text has these words in sequence, ignoring punctuation, case and accents. */
export function containsPhrase(text: string, phrase: string): boolean {
  if (isAscii(text) && isAscii(phrase)) return plainOf(phrase)?.(text) ?? false
  return phraseAt(text, phrase, 0) !== null
}

/** The first occurrence from `from` on. */
export function phraseAt(text: string, phrase: string, from: number): [number, number] | null {
  const pattern = patternOf(phrase, isBeyondAscii(text) || isBeyondAscii(phrase))
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

const patterns = new Map<string, RegExp | null>()

function patternOf(phrase: string, isWide: boolean): RegExp | null {
  const key = `${isWide ? "w" : "a"}${phrase}`
  const known = patterns.get(key)
  if (known !== undefined) return known
  if (patterns.size >= REMEMBERED) patterns.clear()
  const made = isWide ? widePattern(phrase) : asciiPattern(phrase)
  patterns.set(key, made)
  return made
}

const plains = new Map<string, ((text: string) => boolean) | null>()

/** Cached: the same few phrases are searched in thousands of texts. */
function plainOf(phrase: string): ((text: string) => boolean) | null {
  const known = plains.get(phrase)
  if (known !== undefined) return known
  if (plains.size >= REMEMBERED) plains.clear()
  const runs = runsOf(phrase)
  const made = runs.length === 0 ? null : plainPhrase(runs)
  plains.set(phrase, made)
  return made
}

function firstMatch(pattern: RegExp, text: string, from: number): [number, number] | null {
  pattern.lastIndex = from
  const found = pattern.exec(text)
  return found && [found.index, found.index + found[0].length]
}

// Linear time for any input: words and the gaps between them share no characters, so there is only one way to match.
function asciiPattern(phrase: string): RegExp | null {
  const runs = runsOf(phrase)
  if (runs.length === 0) return null
  return new RegExp(`(?<![A-Za-z0-9])${runs.join("[^A-Za-z0-9]+")}(?![A-Za-z0-9])`, "gi")
}

function widePattern(phrase: string): RegExp | null {
  const runs = runsOf(phrase)
  if (runs.length === 0) return null
  const before = UNSPACED.test(String.fromCodePoint(runs[0]!.codePointAt(0)!)) ? "" : "(?<![\\p{L}\\p{N}])"
  const after = UNSPACED.test([...runs.at(-1)!].at(-1)!) ? "" : "(?![\\p{L}\\p{N}\\p{M}])"
  const between = "[^\\p{L}\\p{N}\\p{M}][^\\p{L}\\p{N}]*"
  return new RegExp(before + runs.map(wideRun).join(between) + after, "giu")
}

function runsOf(phrase: string): string[] {
  return cutPhrase(phrase).match(RUN) ?? []
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
