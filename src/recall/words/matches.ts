import { isBlank } from "./blanks.ts"
import { phraseAt } from "./phrase.ts"
import { isAscii } from "./plain.ts"
import type { ParsedQuery } from "./query.ts"
import { ODD_FORMS, stem } from "./stem.ts"
import { eachWord, eachWordBetween } from "./tokens.ts"

/** Where something of the query stands in a text. */
export interface Match {
  start: number
  end: number
  /** Which word or phrase of the query. */
  id: number
}

/** What is looked for in every text of a page. */
export interface Wanted {
  ids: Map<string, number>
  prefixes: [prefix: string, id: number][]
  beginnings: readonly string[] | undefined
  /** Of the words, then of the phrases. */
  worth: number[]
  /** Runs between blanks that were taken apart: the words that somebody looks for come again and again. */
  chunks: Map<string, Match[]>
}

/** Everything, in order. */
export function allMatches(text: string, query: ParsedQuery, wanted: Wanted): Match[] {
  const all: Match[] = []
  if (canSkim(text, wanted))
    skim(text, wanted, 0, (matches) => {
      for (const match of matches) all.push(match)
      return false
    })
  else eachWord(text, emitTo(all, wanted))
  for (const [index, phrase] of query.phrases.entries()) {
    const id = wanted.worth.length - query.phrases.length + index
    let at = phraseAt(text, phrase.text, 0)
    for (let count = 0; at !== null && count < MOST_PHRASE_MATCHES; count++) {
      all.push({ start: at[0], end: at[1], id })
      at = phraseAt(text, phrase.text, at[1])
    }
  }
  return all.sort(inOrder)
}

/** Whether the text need not be taken apart as a whole to find all words that are wanted in it. */
export function canSkim(text: string, { beginnings }: Wanted): boolean {
  return beginnings !== undefined && (isAscii(text) || !FOLDED_LETTER.test(text))
}

/** The matches of each run between blanks that has some, in order, from `begin` on until it is enough; how far that was. */
export function skim(
  text: string,
  wanted: Wanted,
  begin: number,
  isEnough: (matches: Match[], from: number) => boolean,
): number {
  return eachChunkWith(text, wanted.beginnings!, begin, (from, to) =>
    isEnough(matchesBetween(text, wanted, from, to), from),
  )
}

function matchesBetween(text: string, wanted: Wanted, from: number, to: number): Match[] {
  if (to - from > LONGEST_REMEMBERED) {
    const matches: Match[] = []
    eachWordBetween(text, from, to, emitTo(matches, wanted))
    return matches.sort(inOrder)
  }
  const chunk = text.slice(from, to)
  let matches = wanted.chunks.get(chunk)
  if (!matches) {
    matches = []
    eachWord(chunk, emitTo(matches, wanted))
    wanted.chunks.set(chunk, matches.sort(inOrder))
  }
  return matches.map(({ start, end, id }) => ({ start: from + start, end: from + end, id }))
}

/** A phrase outweighs any number of words. */
const PHRASE_WORTH = 100
const MOST_PHRASE_MATCHES = 100
const LONGEST_REMEMBERED = 40

/** Of all texts of a page it is the same. */
const remembered = new WeakMap<ParsedQuery, Wanted>()

export function wantedBy(query: ParsedQuery): Wanted {
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
function beginningsOf(words: readonly string[]): string[] | undefined {
  const all = new Set<string>()
  for (const word of words) {
    if (!/^[a-z0-9]{2,}$/.test(word)) return undefined
    all.add(beginningOf(word))
    for (const form of FORMS.get(word) ?? []) all.add(form)
  }
  return all.size === 0 ? undefined : [...all]
}

/** Without the last letter of a short stem that may be another one in the text: busy is busi here, and hoping is hope. */
function beginningOf(word: string): string {
  const isOther = word.length > 2 && word.length <= BEGINNING_CHARS && /[ei]$/.test(word)
  return isOther ? word.slice(0, -1) : word.slice(0, BEGINNING_CHARS)
}

/** One that is written in several ways. */
const FOLDED_LETTER = /[\u00c0-\u024f]|[\u0300-\u036f]|[\u1e00-\u1eff]|[\uff00-\uffef]/
const BEGINNING_CHARS = 4
/** Forms that do not begin as their stem, by it. */
const FORMS = Map.groupBy(ODD_FORMS, stem)

const inOrder = (a: Match, b: Match) => a.start - b.start || a.end - b.end

const emitTo =
  (matches: Match[], { ids, prefixes }: Wanted) =>
  (word: string, start: number, end: number) => {
    const id = ids.get(word) ?? prefixes.find(([prefix]) => word.startsWith(prefix))?.[1]
    if (id !== undefined) matches.push({ start, end, id })
  }

/** The runs between blanks in which one of these begins, each once, until one is enough; how far the text was read. */
function eachChunkWith(
  text: string,
  beginnings: readonly string[],
  begin: number,
  isEnough: (from: number, to: number) => boolean,
): number {
  // As long as the text: what changes its length in small letters cannot be skimmed. A pattern would have to be compiled.
  const small = text.toLowerCase()
  const after = (beginning: string, at: number) => {
    const found = small.indexOf(beginning, at)
    return found < 0 ? Number.POSITIVE_INFINITY : found
  }
  const nexts = beginnings.map((beginning) => after(beginning, begin))
  for (;;) {
    let which = 0
    for (let at = 1; at < nexts.length; at++) if (nexts[at]! < nexts[which]!) which = at
    let from = nexts[which]!
    if (from >= text.length) return text.length
    if (isWithinWord(text, from)) {
      nexts[which] = after(beginnings[which]!, from + 1)
      continue
    }
    let to = from + beginnings[which]!.length
    while (from > 0 && !isBlank(text, from - 1)) from--
    while (to < text.length && !isBlank(text, to)) to++
    if (isEnough(from, to)) return to
    for (let at = 0; at < nexts.length; at++) if (nexts[at]! < to) nexts[at] = after(beginnings[at]!, to)
  }
}

/** No word and no part of an identifier begins with a small letter after another letter. */
function isWithinWord(text: string, at: number): boolean {
  if (at === 0 || !isSmall(text.charCodeAt(at))) return false
  const before = text.charCodeAt(at - 1)
  return isSmall(before) || isSmall(before + 32)
}

const isSmall = (code: number) => code >= 97 && code <= 122
