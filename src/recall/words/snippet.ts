import { readableCall } from "../../domain/tool-call.ts"
import { IRREGULAR } from "./irregular.ts"
import { phraseAt } from "./phrase.ts"
import { withoutAnsi } from "./plain.ts"
import type { ParsedQuery } from "./query.ts"
import { eachWord, eachWordBetween } from "./tokens.ts"

export interface Snippet {
  text: string
  /** What matched, as starts and ends in `text`, in order and apart. */
  marks: [number, number][]
}

/** The part of a text that has most of what was asked for, on one line, of at most `maxChars`. */
export function snippetOf(text: string, query: ParsedQuery, maxChars: number): Snippet {
  // A tool's call is kept as JSON, which nobody likes to read.
  const plain = withoutAnsi(readableCall(text) ?? text)
  const matches = matchesOf(plain, query)
  const window = bestWindow(matches, maxChars)
  const start = window === null ? 0 : startBefore(plain, window, maxChars)
  return oneLine(plain, start, matches, maxChars)
}

interface Match {
  start: number
  end: number
  /** Which word or phrase of the query. */
  id: number
}

/** A phrase outweighs any number of words. */
const PHRASE_WORTH = 100
/** How much of what stands before the first match is shown, of what room is left. */
const BEFORE = 0.35
const MOST_PHRASE_MATCHES = 100

interface Found {
  /** By start. */
  all: Match[]
  worth: number[]
}

function matchesOf(text: string, query: ParsedQuery): Found {
  const { ids, prefixes, beginnings, worth, chunks } = wantedBy(query)
  const all: Match[] = []
  const emitTo = (matches: Match[]) => (word: string, start: number, end: number) => {
    const id = ids.get(word) ?? prefixes.find(([prefix]) => word.startsWith(prefix))?.[1]
    if (id !== undefined) matches.push({ start, end, id })
  }
  const emit = emitTo(all)
  const lookAt = (from: number, to: number) => {
    if (to - from > LONGEST_REMEMBERED) return eachWordBetween(text, from, to, emit)
    const chunk = text.slice(from, to)
    let matches = chunks.get(chunk)
    if (!matches) {
      matches = []
      eachWord(chunk, emitTo(matches))
      chunks.set(chunk, matches)
    }
    for (const { start, end, id } of matches) all.push({ start: from + start, end: from + end, id })
  }
  if (beginnings && !FOLDED_LETTER.test(text)) eachChunkWith(text, beginnings, lookAt)
  else eachWord(text, emit)
  for (const [index, phrase] of query.phrases.entries()) {
    const id = worth.length - query.phrases.length + index
    let at = phraseAt(text, phrase.text, 0)
    for (let count = 0; at !== null && count < MOST_PHRASE_MATCHES; count++) {
      all.push({ start: at[0], end: at[1], id })
      at = phraseAt(text, phrase.text, at[1])
    }
  }
  return { all: all.sort((a, b) => a.start - b.start || a.end - b.end), worth }
}

interface Wanted {
  ids: Map<string, number>
  prefixes: [prefix: string, id: number][]
  beginnings: RegExp | undefined
  /** Of the words, then of the phrases. */
  worth: number[]
  /** Runs between blanks that were taken apart: the words that somebody looks for come again and again. */
  chunks: Map<string, Match[]>
}

const LONGEST_REMEMBERED = 40

/** Of all texts of a page it is the same. */
const remembered = new WeakMap<ParsedQuery, Wanted>()

function wantedBy(query: ParsedQuery): Wanted {
  const known = remembered.get(query)
  if (known) return known
  const ids = new Map<string, number>()
  const prefixes: [string, number][] = []
  const worth: number[] = []
  for (const { word, weight, isPrefix, isStop } of query.words) {
    if (isStop) continue
    if (isPrefix) prefixes.push([word, worth.length])
    else ids.set(word, worth.length)
    // Long words are the rare ones, more or less.
    worth.push(weight * (1 + Math.min(word.length, 12) / 12))
  }
  for (const _ of query.phrases) worth.push(PHRASE_WORTH)
  const beginnings = beginningsOf([...ids.keys(), ...prefixes.map(([prefix]) => prefix)])
  const wanted = { ids, prefixes, beginnings, worth, chunks: new Map() }
  remembered.set(query, wanted)
  return wanted
}

/**
 * What any form of these words begins with, or undefined where that cannot be told. Taking a whole text apart costs ten
 * times as much as looking for these.
 */
function beginningsOf(words: readonly string[]): RegExp | undefined {
  const all = new Set<string>()
  for (const word of words) {
    if (!/^[a-z0-9]{2,}$/.test(word)) return undefined
    all.add(word.slice(0, BEGINNING_CHARS))
    for (const form of FORMS.get(word) ?? []) all.add(form)
  }
  return all.size === 0 ? undefined : new RegExp([...all].join("|"), "gi")
}

/** One that is written in several ways. */
const FOLDED_LETTER = /[\u00c0-\u024f]|[\u0300-\u036f]|[\u1e00-\u1eff]|[\uff00-\uffef]/
const BEGINNING_CHARS = 4
/** Irregular forms by their stem. */
const FORMS = Map.groupBy(IRREGULAR.keys(), (form) => IRREGULAR.get(form)!)

/** The runs between blanks that hold a match, each once. */
function eachChunkWith(text: string, pattern: RegExp, call: (from: number, to: number) => void): void {
  pattern.lastIndex = 0
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    let from = found.index
    if (isWithinWord(text, from)) {
      pattern.lastIndex = from + 1
      continue
    }
    while (from > 0 && !isBlank(text, from - 1)) from--
    let to = pattern.lastIndex
    while (to < text.length && !isBlank(text, to)) to++
    call(from, to)
    pattern.lastIndex = to
  }
}

/** No word and no part of an identifier begins with a small letter after another letter. */
function isWithinWord(text: string, at: number): boolean {
  if (at === 0 || !isSmall(text.charCodeAt(at))) return false
  const before = text.charCodeAt(at - 1)
  return isSmall(before) || isSmall(before + 32)
}

const isSmall = (code: number) => code >= 97 && code <= 122

/** The first and the last of the matches that are worth most together and fit. */
function bestWindow({ all, worth }: Found, maxChars: number): [number, number] | null {
  const counts = new Uint32Array(worth.length)
  let value = 0
  let first = 0
  let best: [number, number] | null = null
  let bestValue = 0
  for (const match of all) {
    if (counts[match.id]!++ === 0) value += worth[match.id]!
    while (match.end - all[first]!.start > maxChars - 2 && all[first] !== match) {
      const left = all[first++]!
      if (--counts[left.id]! === 0) value -= worth[left.id]!
    }
    if (value > bestValue + 1e-9) {
      bestValue = value
      best = [all[first]!.start, match.end]
    }
  }
  return best
}

function startBefore(text: string, [start, end]: [number, number], maxChars: number): number {
  const room = Math.max(0, maxChars - 2 - (end - start))
  const from = text.length <= maxChars ? 0 : Math.max(0, start - Math.floor(room * BEFORE))
  if (from === 0) return 0
  for (let at = from; at < start; at++) if (isBlank(text, at)) return at + 1
  return isLow(text.charCodeAt(from)) && isHigh(text.charCodeAt(from - 1)) ? from + 1 : from
}

/** From `start` on, blanks collapsed, without anything a terminal or a reader would stumble over. */
function oneLine(text: string, start: number, { all }: Found, maxChars: number): Snippet {
  const ellipsis = start > 0 ? "…" : ""
  let out = ellipsis
  let gap = false
  /** Of each character from `start` on, its place in `out`. */
  const places: number[] = []
  for (let at = start; at < text.length && out.length <= maxChars; at++) {
    if (isBlank(text, at)) gap = true
    else {
      if (gap && out !== ellipsis) out += " "
      gap = false
      places.push(out.length)
      out += text[at]
      continue
    }
    places.push(out.length)
  }
  const isCut = out.length > maxChars
  const shown = isCut ? out.slice(0, cutAt(out, maxChars - 1)) : out
  const marks = marksOf(all, start, places, shown.length)
  return { text: isCut && maxChars > 0 ? `${shown}…` : shown, marks }
}

/** At the last blank, unless that would cost too much; never inside of a pair of surrogates. */
function cutAt(out: string, most: number): number {
  if (most <= 0) return 0
  const blank = out.lastIndexOf(" ", most)
  if (blank >= most * 0.6) return blank
  return isHigh(out.charCodeAt(most - 1)) ? most - 1 : most
}

function marksOf(all: Match[], start: number, places: number[], length: number): [number, number][] {
  const marks: [number, number][] = []
  for (const match of all) {
    if (match.start < start || match.end - start > places.length) continue
    const from = places[match.start - start]!
    const to = places[match.end - 1 - start]! + 1
    const last = marks.at(-1)
    if (to > length || to <= from) continue
    if (last && from < last[1]) last[1] = Math.max(last[1], to)
    else marks.push([from, to])
  }
  return marks
}

/** Blanks, what controls a terminal or the direction of writing, halves of pairs, and the fences of code. */
function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code === BACKTICK) return isFence(text, at)
  if (code <= 32 || (code >= 0x7f && code <= 0xa0)) return true
  if (code < 0x1680) return false
  if (isHigh(code)) return !isLow(text.charCodeAt(at + 1))
  if (isLow(code)) return !isHigh(text.charCodeAt(at - 1))
  return /[\s\u2028-\u202e\u2066-\u2069\u200e\u200f\ufeff]/.test(text[at]!)
}

const BACKTICK = 96

/** Inside of three or more of them. */
function isFence(text: string, at: number): boolean {
  let run = 1
  for (let left = at - 1; run < 3 && text.charCodeAt(left) === BACKTICK; left--) run++
  for (let right = at + 1; run < 3 && text.charCodeAt(right) === BACKTICK; right++) run++
  return run >= 3
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
