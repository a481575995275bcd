import { withoutAnsi } from "../../domain/text.ts"
import { readableCall } from "../../domain/tool-call.ts"
import { BACKTICK, isBlank, isHigh, isLow } from "./blanks.ts"
import { allMatches, canSkim, type Match, skim, wantedBy } from "./matches.ts"
import type { ParsedQuery } from "./query.ts"

export interface Snippet {
  text: string
  /** Highlights as start and end in `text`, ordered and disjoint. */
  marks: [number, number][]
}

/** The best matching part of a text, on one line of at most `maxChars`. */
export function snippetOf(text: string, query: ParsedQuery, maxChars: number): Snippet {
  // Tool calls are stored as JSON.
  const plain = withoutAnsi(readableCall(text) ?? text)
  const wanted = wantedBy(query)
  const window = new Window(wanted.worth, maxChars - 2)
  const all: Match[] = []
  const take = (matches: readonly Match[]) => {
    for (const match of matches) {
      window.take(match)
      all.push(match)
    }
    return window.hasAll
  }
  let readTo = plain.length
  // Reading stops once a window has everything; later matches matter only if they are shown.
  if (query.phrases.length === 0 && canSkim(plain, wanted)) readTo = skim(plain, wanted, 0, take)
  else take(allMatches(plain, query, wanted))
  const start = window.best === null ? 0 : startBefore(plain, window.best, maxChars)
  const line = oneLine(plain, start, maxChars)
  const shownTo = start + line.read
  if (readTo < shownTo)
    skim(plain, wanted, readTo, (matches, from) => {
      if (from >= shownTo) return true
      for (const match of matches) all.push(match)
      return false
    })
  return { text: line.text, marks: marksOf(all, start, line) }
}

/** The share of the free space that goes before the first match. */
const BEFORE = 0.35

/** Sliding window over ordered matches: finds the most valuable ones that fit. */
class Window {
  best: [start: number, end: number] | null = null
  readonly #worth: readonly number[]
  readonly #maxChars: number
  readonly #counts: Uint32Array
  readonly #fitting: Match[] = []
  #first = 0
  #value = 0
  #bestValue = 0
  #left: number

  constructor(worth: readonly number[], maxChars: number) {
    this.#worth = worth
    this.#maxChars = maxChars
    this.#counts = new Uint32Array(worth.length)
    this.#left = worth.length
  }

  /** The window has every term: no other can be better. */
  hasAll = false

  take(match: Match): void {
    const fitting = this.#fitting
    fitting.push(match)
    if (this.#counts[match.id]!++ === 0) {
      this.#value += this.#worth[match.id]!
      this.#left--
    }
    while (match.end - fitting[this.#first]!.start > this.#maxChars && fitting[this.#first] !== match) {
      const { id } = fitting[this.#first++]!
      if (--this.#counts[id]! > 0) continue
      this.#value -= this.#worth[id]!
      this.#left++
    }
    if (this.#value <= this.#bestValue + 1e-9) return
    this.#bestValue = this.#value
    this.best = [fitting[this.#first]!.start, match.end]
    this.hasAll = this.#left === 0
  }
}

function startBefore(text: string, [start, end]: [number, number], maxChars: number): number {
  const room = Math.max(0, maxChars - 2 - (end - start))
  const from = text.length <= maxChars ? 0 : Math.max(0, start - Math.floor(room * BEFORE))
  if (from === 0) return 0
  for (let at = from; at < start; at++) if (isBlank(text, at)) return at + 1
  return isLow(text.charCodeAt(from)) && isHigh(text.charCodeAt(from - 1)) ? from + 1 : from
}

interface Line {
  text: string
  /** How many characters of the text it covers. */
  read: number
  /** The length without the final ellipsis. */
  length: number
}

/** The position in the line of each character of the text. Reused by the next call. */
let places = new Uint32Array(1024)

/** Collapses blanks and drops control characters. */
function oneLine(text: string, start: number, maxChars: number): Line {
  const ellipsis = start > 0 ? "…" : ""
  let out = ellipsis
  let length = ellipsis.length
  let gap = false
  // Unchanged stretches are copied in one piece.
  let pieceFrom = start
  let at = start
  for (; at < text.length && length <= maxChars; at++) {
    if (at - start === places.length) places = enlarged(places)
    const isSingleBlank = !gap && text.charCodeAt(at) === BLANK && isPlain(text.charCodeAt(at + 1))
    if (isBlank(text, at) && !(isSingleBlank && length > ellipsis.length)) {
      if (!gap) out += text.slice(pieceFrom, at)
      gap = true
      places[at - start] = length
      continue
    }
    if (gap) {
      pieceFrom = at
      if (length > ellipsis.length) {
        out += " "
        length++
      }
    }
    gap = false
    places[at - start] = length++
  }
  if (!gap) out += text.slice(pieceFrom, at)
  const isCut = out.length > maxChars
  const shown = isCut ? out.slice(0, cutAt(out, maxChars - 1)) : out
  return { text: isCut && maxChars > 0 ? `${shown}…` : shown, read: at - start, length: shown.length }
}

const BLANK = 32

/** Never a blank in any context. */
const isPlain = (code: number) => code > BLANK && code < 0x7f && code !== BACKTICK

function enlarged(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}

/** At the last blank unless too much would be lost; never inside a surrogate pair. */
function cutAt(out: string, most: number): number {
  if (most <= 0) return 0
  const blank = out.lastIndexOf(" ", most)
  if (blank >= most * 0.6) return blank
  return isHigh(out.charCodeAt(most - 1)) ? most - 1 : most
}

function marksOf(all: readonly Match[], start: number, { read, length }: Line): [number, number][] {
  const marks: [number, number][] = []
  for (const match of all) {
    if (match.start < start || match.end - start > read) continue
    const from = places[match.start - start]!
    const to = places[match.end - 1 - start]! + 1
    const last = marks.at(-1)
    if (to > length || to <= from) continue
    if (last && from < last[1]) last[1] = Math.max(last[1], to)
    else marks.push([from, to])
  }
  return marks
}
