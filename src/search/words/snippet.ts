import { withoutAnsi } from "../../domain/text.ts"
import { readableCall } from "../../domain/tool-call.ts"
import { BACKTICK, isBlank, isHigh, isLow } from "./blanks.ts"
import { allMatches, canSkim, type Match, skim, wantedBy } from "./matches.ts"
import type { ParsedQuery } from "./query.ts"

export interface Snippet {
  text: string
  /** What matched, as starts and ends in `text`, in order and apart. */
  marks: [number, number][]
}

/** The part of a text that has most of what was asked for, on one line, of at most `maxChars`. */
export function snippetOf(text: string, query: ParsedQuery, maxChars: number): Snippet {
  // A tool's call is kept as JSON, which nobody likes to read.
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
  // What comes after the first part that has everything can only be marked, where it is still shown.
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

/** How much of what stands before the first match is shown, of what room is left. */
const BEFORE = 0.35

/** Of matches in their order: the first and the last of those that are worth most together and fit. */
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

  /** No other can be worth more. */
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
  /** How many characters of the text from `start` on are in it, or were left out of it. */
  read: number
  /** How much of the line is of the text. */
  length: number
}

/** Of each character from the start of a line on, its place in the line. Used again by the next one. */
let places = new Uint32Array(1024)

/** From `start` on, blanks collapsed, without anything a terminal or a reader would stumble over. */
function oneLine(text: string, start: number, maxChars: number): Line {
  const ellipsis = start > 0 ? "…" : ""
  let out = ellipsis
  let length = ellipsis.length
  let gap = false
  // What stands in the line as it does in the text is taken over at once.
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

/** Never a blank, whatever stands around it. */
const isPlain = (code: number) => code > BLANK && code < 0x7f && code !== BACKTICK

function enlarged(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}

/** At the last blank, unless that would cost too much; never inside of a pair of surrogates. */
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
