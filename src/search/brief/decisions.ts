import { clip } from "../../domain/text.ts"
import { sentencesOf } from "./sentences.ts"

export interface Statement {
  text: string
  atMs: number
  by: "person" | "agent" | "thought"
}

const MOST_CHARS = 280
/** Longer statements are pasted text; the number of candidates bounds the pairwise comparison. */
const MOST_OF_STATEMENT = 20_000
const MOST_CANDIDATES = 400
const USE = "(?:use|using|keep|go with|stick (?:with|to)|avoid|drop|switch(?:ing)? to|store)"
const STRONG = new RegExp(
  [
    String.raw`\bdecided\b|\bdecision\s*:|\bsettled on\b|\bagreed (?:to|on|that)\b`,
    String.raw`\b(?:we|i|you)(?:'ll| will| shall| should|'re going to| are going to| must|'d better)? (?:not |never |always )?${USE}\b`,
    String.raw`\blet(?:'s| us) (?:not |also )?(?:${USE}|do|make)\b`,
    String.raw`\bgo(?:ing)? with\b|\bwe (?:chose|picked)\b|\bi (?:chose|picked)\b`,
    `^(?:(?:yes|ok(?:ay)?|no|but|and|then|please|so)[,.:]? )*${USE} `,
    String.raw`\bi (?:do not|don't) want\b`,
    String.raw`\binstead of\b|\brather than\b|\bno longer\b|\bswitch(?:ed|ing)? (?:from|to)\b`,
    String.raw`(?:^|[,:;] )(?:please )?(?:do not|don't|never|always) \w+`,
    "决定|采用|改用|不要使用|決めた|にします|使うことに",
  ].join("|"),
  "i",
)
const WEAK = /\bbecause\b|\bso that\b|\bprefer(?:red|able)?\b|\bmust(?: not|n't)?\b|因为|ため/i

/** Sentences that settle something, the weightiest and newest first. A newer one replaces an older one on the same subject. */
export function decisionsIn(statements: readonly Statement[]): Pick<Statement, "text" | "atMs">[] {
  const candidates = statements
    .flatMap(({ text, atMs, by }, index) =>
      sentencesOf(text.slice(0, MOST_OF_STATEMENT)).map((sentence, place) => ({
        sentence,
        atMs,
        index,
        place,
        weight: weightOf(sentence, by),
      })),
    )
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.atMs - a.atMs || b.index - a.index || b.place - a.place)
    .slice(0, MOST_CANDIDATES)
  const standing: (Said & { text: string; atMs: number; weight: number })[] = []
  for (const { sentence, atMs, weight } of candidates) {
    const older = { text: clip(sentence, MOST_CHARS), atMs, weight, ...wordsOf(sentence) }
    if (older.words.size > 0 && !standing.some((newer) => replaces(newer, older))) standing.push(older)
  }
  return standing.sort((a, b) => b.weight - a.weight || b.atMs - a.atMs).map(({ text, atMs }) => ({ text, atMs }))
}

function weightOf(sentence: string, by: Statement["by"]): number {
  if (/\?["')`]*$/.test(sentence) || sentence.length > 4 * MOST_CHARS) return 0
  const weight = STRONG.test(sentence) ? 2 : WEAK.test(sentence) ? 1 : 0
  // Agents use such words in passing; people and recorded thoughts mean them.
  return weight > 1 && by !== "agent" ? weight + 1 : weight
}

interface Said {
  words: Set<string>
  rejected: Set<string>
}

function replaces(newer: Said, older: Said): boolean {
  const shared = older.words.intersection(newer.words).size
  const least = Math.min(older.words.size, newer.words.size)
  if (shared >= (least > 2 ? 2 : 1) && shared / least >= 0.5) return true
  const rejectsTheSame = older.rejected.size > 0 && older.rejected.isSubsetOf(newer.rejected)
  return !older.words.isDisjointFrom(newer.rejected) && !rejectsTheSame
}

const REJECTED =
  /(?:instead of|rather than|no longer|switch(?:ed|ing)? from|do not use|don't use|drop|not) ((?:[\p{L}\p{N}_./-]+\s?){1,3})/giu

function wordsOf(sentence: string): Said {
  const rejected = [...sentence.matchAll(REJECTED)].flatMap((match) => contentWords(match[1]!))
  return { words: new Set(contentWords(sentence)), rejected: new Set(rejected) }
}

function contentWords(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_./-]*/gu) ?? []
  return words.map((word) => word.replace(/[./-]+$/, "")).filter((word) => word.length > 2 && !EMPTY.has(word))
}

/** Words about deciding, and stop words: what remains is the subject. */
const EMPTY = new Set(
  `the and for with that this these those from into onto than then them they their there here have has had was were will
  would shall should could can may might must not never always don't does did doing done let let's lets we'll i'll you'll
  we're use uses used using keep keeps kept going gone goes chose chosen choose pick picked decided decision settled agreed
  because instead rather longer prefer switch switched switching stick avoid drop also just now its it's our your all any
  but are is be been being what which who when where why how one two first please make makes made need needs want since
  so as at by on in to of or an if do go i we you it he she`.split(/\s+/),
)
