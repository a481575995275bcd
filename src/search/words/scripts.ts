import { identifier } from "./identifier.ts"

export type Emit = (word: string, start: number, end: number) => void

/** `pairs`: a script without spaces between words, indexed by overlapping character pairs. */
export type CharKind = "none" | "word" | "pairs"

/** The kind of a character beyond ASCII. Low surrogates are "none". */
export function kindOf(text: string, at: number): CharKind {
  const code = text.charCodeAt(at)
  if (code >= 0xd800 && code <= 0xdfff) {
    const point = text.codePointAt(at)!
    return point > 0xffff ? kindOfPoint(point) : "none"
  }
  const known = KINDS[code]!
  if (known > 0) return NAMES[known]!
  const kind = kindOfPoint(code)
  KINDS[code] = NAMES.indexOf(kind)
  return kind
}

/** Emits the words of the run that begins at `start`. Returns its end. */
export function foreignRun(text: string, start: number, to: number, emit: Emit): number {
  const kind = kindAt(text, start)
  let end = start
  while (end < to && kindAt(text, end) === kind) end += text.codePointAt(end)! > 0xffff ? 2 : 1
  if (end > to) end = to
  if (kind === "pairs") emitPairs(text, start, end, emit)
  else emitWord(text.slice(start, end), start, end, emit)
  return Math.max(end, start + 1)
}

/** Lower case, without accents and ligatures. */
export function folded(word: string): string {
  return word
    .normalize("NFKD")
    .toLowerCase()
    .replace(ACCENTS, "")
    .replace(LIGATURES, (char) => UNFOLDED[char]!)
}

const NAMES = ["none", "none", "word", "pairs"] as const
const KINDS = new Uint8Array(65_536)
const LONGEST_WORD = 64

const WORD = /^[\p{L}\p{N}\p{M}]$/u
const PAIRS =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc\uff70\u3005\u3099-\u309c\uff9e\uff9f]$/u
/** Without the vowel signs of Indic scripts, which distinguish words. */
const ACCENTS =
  /[\u0300-\u036f]|[\u0483-\u0487]|[\u0591-\u05c7]|\u0640|[\u064b-\u065f]|\u0670|[\u1ab0-\u1aff]|[\u1dc0-\u1dff]|[\u20d0-\u20ff]|[\ufe00-\ufe0f]|[\ufe20-\ufe2f]/g
const UNFOLDED: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
  ς: "σ",
}
const LIGATURES = new RegExp(`[${Object.keys(UNFOLDED).join("")}]`, "g")

function kindOfPoint(point: number): CharKind {
  const char = String.fromCodePoint(point)
  if (!WORD.test(char)) return "none"
  return PAIRS.test(char) ? "pairs" : "word"
}

/** Like kindOf, including ASCII. */
function kindAt(text: string, at: number): CharKind {
  const code = text.charCodeAt(at)
  if (code > 127) return kindOf(text, at)
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
    ? "word"
    : "none"
}

function emitWord(raw: string, start: number, end: number, emit: Emit): void {
  for (const part of folded(raw.slice(0, LONGEST_WORD * 4)).split("_")) {
    if (/^\w+$/.test(part)) {
      const found = identifier(part)
      emit(found.word, start, end)
      for (const piece of found.parts ?? []) emit(piece, start, end)
    } else if (part !== "") emit(flat(part.slice(0, LONGEST_WORD).toWellFormed()), start, end)
  }
}

/** Emits each character with the next, and the last one alone, so that a prefix search finds single characters. */
function emitPairs(text: string, start: number, end: number, emit: Emit): void {
  const raw = text.slice(start, end)
  const plain = raw.normalize("NFKC")
  const isSame = plain === raw
  let at = 0
  let previous = ""
  let previousAt = 0
  for (const char of plain) {
    if (previous !== "")
      emit(previous + char, isSame ? start + previousAt : start, isSame ? start + at + char.length : end)
    previous = char
    previousAt = at
    at += char.length
  }
  if (previous !== "") emit(flat(previous), isSame ? start + previousAt : start, end)
}

/** A slice would keep the whole text in memory. */
function flat(slice: string): string {
  return slice.length < 13 ? slice : Buffer.from(slice, "utf16le").toString("utf16le")
}
