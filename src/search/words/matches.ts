import { isBlank } from "./blanks.ts"
import { phraseAt } from "./phrase.ts"
import { isAscii } from "./plain-phrase.ts"
import type { ParsedQuery } from "./query.ts"
import { ODD_FORMS, stem } from "./stem.ts"
import { eachWord, eachWordBetween } from "./tokens.ts"

/** An occurrence of a query term in a text. */
export interface Match {
  start: number
  end: number
  /** The index of the word or phrase in the query. */
  id: number
}

/** The query, prepared for matching every text of a page. */
export interface Wanted {
  ids: Map<string, number>
  prefixes: [prefix: string, id: number][]
  beginnings: readonly Beginning[] | undefined
  /** The weights of the words, then of the phrases. */
  worth: number[]
  /** Cached matches of chunks between blanks: queried words recur often. */
  chunks: Map<string, Match[]>
}

/** A word's first characters, and how the wanted words continue. */
interface Beginning {
  text: string
  /** Undefined if any continuation may match. */
  rests: readonly string[] | undefined
}

/** All matches, in order. */
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

/** Whether the wanted words can be found without tokenising the whole text. */
export function canSkim(text: string, { beginnings }: Wanted): boolean {
  return beginnings !== undefined && (isAscii(text) || !FOLDED_LETTER.test(text))
}

/** Passes on the matches of each chunk from `begin` until `isEnough`. Returns how far it read. */
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

/** Shared by all texts of a page. */
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
    // Long words tend to be rare.
    worth.push(weight * (1 + Math.min(word.length, 12) / 12))
  }
  for (const _ of query.phrases) worth.push(PHRASE_WORTH)
  const beginnings = beginningsOf([...ids.keys(), ...prefixes.map(([prefix]) => prefix)])
  const wanted = { ids, prefixes, beginnings, worth, chunks: new Map() }
  remembered.set(query, wanted)
  return wanted
}

/** The possible beginnings of these words, or undefined if unknown. Tokenising a text costs ten times as much as a scan. */
function beginningsOf(words: readonly string[]): Beginning[] | undefined {
  if (words.length === 0 || !words.every((word) => /^[a-z0-9]{2}[a-z0-9.]*$/.test(word))) return undefined
  const known = words.flatMap((word) => {
    const text = beginningOf(word)
    // The last letter of a stem may differ in the text: capabl stands for capability.
    const rest = word.slice(text.length, -1).replaceAll(".", "")
    return [{ text, rest }, ...(FORMS.get(word) ?? []).map((form) => ({ text: form, rest: "" }))]
  })
  return [...Map.groupBy(known, ({ text }) => text)].map(([text, same]) => {
    const rests = same.map(({ rest }) => rest)
    return { text, rests: rests.includes("") ? undefined : rests }
  })
}

/** Without the last letter of a short stem that may differ in the text: busi for busy, hope for hoping. */
function beginningOf(word: string): string {
  const isOther = word.length > 2 && word.length <= BEGINNING_CHARS && /[ei]$/.test(word)
  return isOther ? word.slice(0, -1) : word.slice(0, BEGINNING_CHARS).split(".", 1)[0]!
}

/** Whether a wanted word may continue here; skips the joints of identifiers. */
function mayContinue(small: string, at: number, rests: readonly string[]): boolean {
  for (const rest of rests) {
    let place = at
    let same = 0
    for (; same < rest.length; same++, place++) {
      while (isJoint(small.charCodeAt(place))) place++
      if (small.charCodeAt(place) !== rest.charCodeAt(same)) break
    }
    if (same === rest.length) return true
  }
  return false
}

/** Letters with several spellings. */
const FOLDED_LETTER = /[\u00c0-\u024f]|[\u0300-\u036f]|[\u1e00-\u1eff]|[\uff00-\uffef]/
const BEGINNING_CHARS = 4
/** Forms that do not start like their stem, by stem. */
const FORMS = Map.groupBy(ODD_FORMS, stem)

const inOrder = (a: Match, b: Match) => a.start - b.start || a.end - b.end

const emitTo =
  (matches: Match[], { ids, prefixes }: Wanted) =>
  (word: string, start: number, end: number) => {
    const id = ids.get(word) ?? prefixes.find(([prefix]) => word.startsWith(prefix))?.[1]
    if (id !== undefined) matches.push({ start, end, id })
  }

/** Visits each chunk that contains one of the beginnings, until one is enough. Returns how far it read. */
function eachChunkWith(
  text: string,
  beginnings: readonly Beginning[],
  begin: number,
  isEnough: (from: number, to: number) => boolean,
): number {
  // Has the length of the text: canSkim excludes letters whose length changes in lower case.
  const small = text.toLowerCase()
  const after = ({ text: beginning, rests }: Beginning, from: number) => {
    for (let at = small.indexOf(beginning, from); at >= 0; at = small.indexOf(beginning, at + 1))
      if (!isWithinWord(text, at) && (!rests || mayContinue(small, at + beginning.length, rests))) return at
    return Number.POSITIVE_INFINITY
  }
  const nexts = beginnings.map((beginning) => after(beginning, begin))
  for (;;) {
    let which = 0
    for (let at = 1; at < nexts.length; at++) if (nexts[at]! < nexts[which]!) which = at
    let from = nexts[which]!
    if (from >= text.length) return text.length
    let to = from + beginnings[which]!.text.length
    while (from > 0 && !isBlank(text, from - 1)) from--
    while (to < text.length && !isBlank(text, to)) to++
    if (isEnough(from, to)) return to
    for (let at = 0; at < nexts.length; at++) if (nexts[at]! < to) nexts[at] = after(beginnings[at]!, to)
  }
}

/** No word and no identifier part starts with a lower-case letter after another letter. */
function isWithinWord(text: string, at: number): boolean {
  if (at === 0 || !isSmall(text.charCodeAt(at))) return false
  const before = text.charCodeAt(at - 1)
  return isSmall(before) || isSmall(before + 32)
}

const isSmall = (code: number) => code >= 97 && code <= 122

/** Hyphen, underscore, apostrophes, and the dots of file names. */
const isJoint = (code: number) => code === 45 || code === 95 || code === 39 || code === 46 || code === 0x2019
