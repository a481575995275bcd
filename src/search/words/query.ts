import { type TimeRange, timesIn } from "./dates.ts"
import { cutPhrase, MOST_PHRASE_WORDS } from "./phrase.ts"
import { folded, kindOf } from "./scripts.ts"
import { stem } from "./stem.ts"
import { isStopWord } from "./stop-words.ts"
import { eachWord } from "./tokens.ts"

export interface QueryWord {
  word: string
  weight: number
  isPrefix: boolean
  /** A stop word; not highlighted. */
  isStop?: boolean
}

export interface ParsedQuery {
  /** Any of them may occur. Stop words weigh little unless nothing else is left. */
  words: QueryWord[]
  /** Each must occur literally; `words` are its words in the index. */
  phrases: { text: string; words: string[] }[]
  /** A single word must not occur; several must not occur as a phrase. */
  excluded: { text: string; words: string[] }[]
  /** Times that the query mentions: a boost, never a filter. */
  time?: TimeRange[]
  isEmpty: boolean
  /** Parts of the query that were ignored, for people. */
  notes: string[]
}

/** Parses words, "phrases", -exclusions and prefix*. Any input is valid. */
export function parseQuery(query: string, nowMs: number): ParsedQuery {
  const bag = new Bag()
  const phrases: ParsedQuery["phrases"] = []
  const excluded: ParsedQuery["excluded"] = []
  const notes = new Set<string>()
  let unquoted = ""
  if (query.length > MOST_CHARS) notes.add(`only the first ${MOST_CHARS} characters of the query were read`)
  for (const { text, isPhrase, isExcluded } of piecesOf(query.slice(0, MOST_CHARS))) {
    if (isExcluded) {
      const whole = outermost(text)
      if (excluded.length >= MOST_EXCLUDED) notes.add(`only the first ${MOST_EXCLUDED} exclusions were used`)
      else if (whole.length > 0) excluded.push(whole.length === 1 ? { text, words: whole } : phraseOf(text))
    } else if (!isPhrase) {
      unquoted += `${text} `
      addToken(bag, text)
    } else if (HAS_WORD.test(text)) {
      const phrase = phraseOf(text)
      if (phrase.text !== text) notes.add(`a phrase was cut to ${MOST_PHRASE_WORDS} words`)
      if (phrases.length < MOST_PHRASES) phrases.push(phrase)
      else notes.add(`only the first ${MOST_PHRASES} phrases were kept together`)
      addText(bag, text)
    } else if (text !== "") notes.add("a phrase without words was left out")
  }
  const words = bag.words()
  if (bag.isCut) notes.add(`the query was cut to ${MOST_WORDS} words`)
  const isEmpty = words.length === 0 && phrases.length === 0
  if (isEmpty && excluded.length > 0) notes.add("the query only excludes: there is nothing to look for")
  const time = timesIn(unquoted, nowMs)
  return { words, phrases, excluded, ...(time.length > 0 ? { time } : {}), isEmpty, notes: [...notes] }
}

/** Far more than 64 words need; the rest is a pasted log. */
const MOST_CHARS = 20_000
const MOST_WORDS = 64
const MOST_PHRASES = 8
const MOST_EXCLUDED = 16
/** For a part of an identifier; the whole has 1. */
const PART_WEIGHT = 0.6
/** Limits the weight of repeated words. */
const MOST_WEIGHT = 4
/** Without stop words, remembered sentences are not found; at full weight they drown out the content words. */
const STOP_WEIGHT = 0.3
const SHORTEST_PREFIX = 2

/** The distinct words in the order of the query. */
class Bag {
  readonly #content = new Map<string, QueryWord>()
  readonly #stop = new Map<string, QueryWord>()
  isCut = false

  add(word: string, weight: number, isPrefix = false): void {
    const words = !isPrefix && isStopWord(word) ? this.#stop : this.#content
    const key = isPrefix ? `${word}*` : word
    const known = words.get(key)
    if (known) known.weight = Math.min(MOST_WEIGHT, known.weight + weight)
    else if (words.size < MOST_WORDS) words.set(key, { word, weight, isPrefix })
    else if (words === this.#content) this.isCut = true
  }

  words(): QueryWord[] {
    if (this.#content.size === 0) return [...this.#stop.values()]
    const stop = [...this.#stop.values()].map((each) => ({ ...each, weight: each.weight * STOP_WEIGHT, isStop: true }))
    return [...this.#content.values(), ...stop]
  }
}

interface Piece {
  text: string
  isPhrase: boolean
  isExcluded: boolean
}

function* piecesOf(query: string): Generator<Piece> {
  let at = 0
  while (at < query.length) {
    if (/\s/.test(query[at]!)) {
      at++
      continue
    }
    const isExcluded =
      query[at] === "-" && (at === 0 || /\s/.test(query[at - 1]!)) && EXCLUDES.test(query.slice(at + 1, at + 4))
    if (isExcluded) at++
    const isPhrase = QUOTE.test(query[at]!)
    const stop = isPhrase ? /["“”„]/g : /[\s"“”„]/g
    stop.lastIndex = at + 1
    const end = stop.exec(query)?.index ?? query.length
    yield { text: query.slice(isPhrase ? at + 1 : at, end).trim(), isPhrase, isExcluded }
    at = isPhrase ? end + 1 : end
  }
}

const HAS_WORD = /[\p{L}\p{N}]/u
const QUOTE = /["“”„]/
/** Not the flags and negative numbers of a pasted command. */
const EXCLUDES = /^(?:["“”„]|[\p{L}_][^\s"])/u

const BEFORE_STAR = /([\p{L}\p{N}][\p{L}\p{N}\p{M}_.-]*)\*+$/u

/** A word that may be a prefix. */
function addToken(bag: Bag, text: string): void {
  const tail = text.endsWith("*") ? (BEFORE_STAR.exec(text.slice(-100))?.[1] ?? "") : ""
  const prefix = folded(tail).replaceAll(/[-_]/g, "")
  if (prefix.length < SHORTEST_PREFIX) addText(bag, text)
  else {
    addText(bag, text.slice(0, text.lastIndexOf(tail)))
    bag.add(prefix, 1, true)
    for (const word of stemsBeyond(prefix)) bag.add(word, 1)
  }
}

/** The index has stems: configurat* has to find configur as well. */
function stemsBeyond(prefix: string): Set<string> {
  const stems = COMPLETIONS.map((end) => stem(prefix + end)).filter((word) => !word.startsWith(prefix))
  return new Set(stems.filter((word) => prefix.startsWith(word) || prefix.startsWith(word.slice(0, -1))))
}

const COMPLETIONS = ["", ..."e s es d ed g ng ing n on ion ions y ly ity ness al".split(" ")]

/** Adds words at full weight and their parts at less. */
function addText(bag: Bag, text: string): void {
  for (const { word, isInside } of spansOf(text))
    if (isSingle(word)) bag.add(word, 1, true)
    else bag.add(word, isInside ? PART_WEIGHT : 1)
}

interface Span {
  word: string
  start: number
  end: number
  isInside: boolean
  hasInside: boolean
}

/** Like eachWord, but in order and without the single character that ends a run of pairs. */
function spansOf(text: string): Span[] {
  const spans: Span[] = []
  eachWord(text, (word, start, end) => spans.push({ word, start, end, isInside: false, hasInside: false }))
  const pairEnds = new Set(spans.filter(({ word }) => isPair(word)).map(({ end }) => end))
  const kept = spans.filter(({ word, end }) => !isSingle(word) || !pairEnds.has(end))
  kept.sort((a, b) => a.start - b.start || b.end - a.end)
  const around: Span[] = []
  for (const span of kept) {
    if (isPair(span.word)) continue
    while (around.length > 0 && around.at(-1)!.end < span.end) around.pop()
    const outer = around.at(-1)
    if (outer && span.end - span.start < outer.end - outer.start) {
      span.isInside = true
      outer.hasInside = true
    }
    around.push(span)
  }
  return kept
}

const outermost = (text: string) => spansOf(text).flatMap(({ word, isInside }) => (isInside ? [] : [word]))

/** Words that are indexed in any context: a compound depends on its neighbours, its parts do not. */
const innermost = (text: string) =>
  spansOf(text).flatMap(({ word, hasInside }) => (hasInside || isSingle(word) ? [] : [word]))

function phraseOf(text: string): { text: string; words: string[] } {
  const cut = cutPhrase(text)
  return { text: cut, words: [...new Set(innermost(cut))] }
}

const isPair = (word: string) => isUnspaced(word) && !isOneCharacter(word)

/** A single character of an unspaced script, searched as the prefix of a pair. */
const isSingle = (word: string) => isUnspaced(word) && isOneCharacter(word)

const isUnspaced = (word: string) => word.charCodeAt(0) > 127 && kindOf(word, 0) === "pairs"
const isOneCharacter = (word: string) => word.length === (word.codePointAt(0)! > 0xffff ? 2 : 1)
