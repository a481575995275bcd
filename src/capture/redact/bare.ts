import { entropyOf, isPlaceholder, isRandom } from "./looks.ts"
import { codesOf } from "./scan.ts"
import { SEED_WORDS } from "./seed-words.ts"

/** Redacts secrets without a literal anchor, by length and characters alone. */
export function withoutBare(text: string, codes: Uint16Array): string {
  const clean = replaced(text, codes, nextKey)
  return replaced(clean, clean === text ? codes : codesOf(clean), nextPhrase)
}

interface Found {
  kind: string
  start: number
  end: number
}

type Next = (text: string, codes: Uint16Array, from: number) => Found | undefined

function replaced(text: string, codes: Uint16Array, next: Next): string {
  let clean = ""
  let done = 0
  for (let found = next(text, codes, 0); found !== undefined; found = next(text, codes, done)) {
    clean += `${text.slice(done, found.start)}[redacted:${found.kind}]`
    done = found.end
  }
  return done === 0 ? text : clean + text.slice(done)
}

const ENDS_WORD = 1
const IN_KEY = 2
/** Characters of keys, and characters that may follow a word of a seed phrase. */
const SORTS = Uint8Array.from({ length: 1 << 16 }, (_, code) => {
  if (code >= 128) return ENDS_WORD
  const char = String.fromCharCode(code)
  return /[\w+/]/.test(char) ? IN_KEY : /[\s,"'\\|`]/.test(char) ? ENDS_WORD : 0
})

const SHORTEST_KEY = 40
const LONGEST_KEY = 60

/** Reads each minimal window backwards: a character that no key has rules out all starts before it. */
function nextKey(text: string, codes: Uint16Array, from: number): Found | undefined {
  const { length } = text
  let start = from
  // Everything from `start` to here may be part of a key.
  let known = from
  while (start + SHORTEST_KEY <= length) {
    const next = start + SHORTEST_KEY
    let at = next - 1
    while (at >= known && SORTS[codes[at]!] === IN_KEY) at--
    const isWhole = at < known
    known = next
    if (!isWhole) {
      start = at + 1
      continue
    }
    let end = next
    while (end < length && SORTS[codes[end]!] === IN_KEY) end++
    const key = end - start <= LONGEST_KEY ? bareKey(text, start, end) : undefined
    if (key !== undefined) return key
    start = known = end + 1
  }
  return undefined
}

function bareKey(text: string, from: number, end: number): Found | undefined {
  let start = from
  // Exclude a preceding escape such as \n or %3D, a colour code, or a diff sign.
  const before = text[start - 1]
  if (before === "\\" && /[nrt]/.test(text[start]!)) start++
  else if (before === "[" || before === ";") start += /^\d{0,3}m/.exec(text.slice(start, start + 4))?.[0].length ?? 0
  else if (before === "%" && /^[0-9A-F]{2}/i.test(text.slice(start, start + 2))) start += 2
  // A diff, or a diff of a diff, possibly inside a listing or quotation.
  const isOpen = start > from || before === undefined || /[\s→|:>]/.test(before)
  for (let i = 0; i < 2 && isOpen && text[start] === "+" && end - start > SHORTEST_KEY; i++) start++
  const value = text.slice(start, end)
  const kind = /^[A-Za-z0-9+/]{40}$/.test(value)
    ? "bare-key"
    : /^[1-9][A-Za-z0-9]{26}_[A-Za-z0-9]{21}$/.test(value)
      ? "ngrok-token"
      : undefined
  if (
    kind === undefined ||
    /[-.=]/.test(text[end] ?? "") ||
    isGlued(text, start) ||
    !isDrawn(value) ||
    isWrapped(text, start)
  )
    return undefined
  return { kind, start, end }
}

/** Part of something longer, unless the hyphen marks a removed line of a diff. */
const isGlued = (text: string, start: number) => text[start - 1] === "-" && /[^\n]/.test(text[start - 2] ?? "\n")

/** Character classes change as often as in random text. One random key in 500 has fewer changes: then its letter pairs decide. */
function isDrawn(value: string): boolean {
  if (!/[A-Z]/.test(value) || !/[a-z]/.test(value) || isPlaceholder(value)) return false
  let changes = 0
  for (let i = 1; i < value.length; i++) if (sortOf(value, i) !== sortOf(value, i - 1)) changes++
  if (changes < value.length * 0.2 || entropyOf(value) < 4.2) return false
  return (changes >= value.length * 0.36 && /\d/.test(value)) || isRandom(value, false)
}

function sortOf(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 97 ? 3 : code >= 65 ? 2 : code >= 48 ? 1 : 0
}

/** The last line of a wrapped image or certificate. */
function isWrapped(text: string, start: number): boolean {
  return /[A-Za-z0-9+/]{60}\r?\n[ \t]*$/.test(text.slice(Math.max(0, start - 90), start))
}

const FEWEST = 12
const MOST = 26
const MOST_BETWEEN = 6
/** The minimum, so that stepping by it cannot skip a phrase. */
const SHORTEST_PHRASE = 47

function nextPhrase(text: string, codes: Uint16Array, from: number): Found | undefined {
  const { length } = text
  for (let i = from + SHORTEST_PHRASE - 1; i < length; i += SHORTEST_PHRASE - 3) {
    let start = i
    if (isAlpha(codes[i]!)) while (start > from && i - start < 9 && isAlpha(codes[start - 1]!)) start--
    else while (start < i + 3 && !isAlpha(codes[start]!)) start++
    const end = wordEnd(codes, start, length)
    if (end < 0 || (end < length && SORTS[codes[end]!] !== ENDS_WORD)) continue
    const phrase = seedPhrase(text, codes, start, end, from)
    if (phrase !== undefined) return phrase
  }
  return undefined
}

function seedPhrase(text: string, codes: Uint16Array, from: number, to: number, done: number): Found | undefined {
  const { length } = text
  let start = from
  let end = to
  let count = 1
  for (; count <= MOST; count++) {
    let next = end
    while (next < length && next - end <= MOST_BETWEEN && isBetween(codes[next]!)) next++
    const after = next - end <= MOST_BETWEEN ? wordEnd(codes, next, length) : -1
    if (after < 0) break
    end = after
  }
  for (; count <= MOST; count++) {
    let last = start - 1
    while (start - last <= MOST_BETWEEN && last >= done && isBetween(codes[last]!)) last--
    let first = last
    while (first > done && last - first < 9 && isAlpha(codes[first - 1]!)) first--
    if (last < done || wordEnd(codes, first, length) !== last + 1) break
    start = first
  }
  if (count < FEWEST || count > MOST) return undefined
  // Sorted words are a word list, not a phrase.
  const words = text.slice(start, end).split(/[^A-Za-z]+/)
  return words.every((word, i) => i === 0 || words[i - 1]! <= word) ? undefined : { kind: "seed-phrase", start, end }
}

/** Hash table of the words, to look them up without slicing the text. */
const HASHES = new Int32Array(1 << 13)
for (const word of SEED_WORDS) {
  let hash = 0
  for (let i = 0; i < word.length; i++) hash = (Math.imul(hash, 31) + word.charCodeAt(i)) | 0
  let slot = hash & (HASHES.length - 1)
  while (HASHES[slot] !== 0) slot = (slot + 1) & (HASHES.length - 1)
  HASHES[slot] = hash
}

/** The end of the seed word that begins there, or -1. */
function wordEnd(codes: Uint16Array, start: number, length: number): number {
  const last = Math.min(start + 9, length)
  let hash = 0
  let end = start
  for (; end < last; end++) {
    const code = codes[end]! | 32
    if (!(code >= 97 && code <= 122)) break
    hash = (Math.imul(hash, 31) + code) | 0
  }
  if (end - start < 3 || end - start > 8) return -1
  for (let slot = hash & (HASHES.length - 1); HASHES[slot] !== 0; slot = (slot + 1) & (HASHES.length - 1)) {
    if (HASHES[slot] === hash) return end
  }
  return -1
}

/** Blanks, commas, quotes, and the numbers of a list. */
const isBetween = (code: number) =>
  code <= 32 ||
  code === 34 ||
  code === 39 ||
  code === 41 ||
  code === 44 ||
  code === 46 ||
  (code >= 48 && code <= 57) ||
  code === 124

const isAlpha = (code: number) => (code | 32) >= 97 && (code | 32) <= 122
