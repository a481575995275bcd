import type { TurnKind } from "../src/domain/turn.ts"
import { eachWord } from "../src/search/words/tokens.ts"
import { type Message, type Messages, PER_SESSION } from "./corpus/messages.ts"
import { makeRandom, type Random } from "./corpus/random.ts"

/** Realistic queries generated from the messages; deterministic. */
export interface Queries {
  /** 989 queries, half of them with a filter. */
  latency: LatencyQuery[]
  /** 476 known turns, spread evenly over all ages. */
  said: KnownItem[]
  /** The same for tool calls and results. */
  tools: KnownItem[]
}

export interface LatencyQuery {
  type: string
  query: string
  filter?: QueryFilter
}

export interface QueryFilter {
  root?: string
  platform?: string
  session?: number
  role?: Role
  sinceMs?: number
  untilMs?: number
}
export type Role = "user" | "assistant" | "tool"

export interface KnownItem {
  session: number
  number: number
  /** The number of its prompt. */
  exchange: number
  kind: TurnKind
  /** Age quintile: 0 is the oldest, 4 the newest. */
  fifth: number
  /** Words of one of its sentences, some omitted, some in another form. */
  remembered: string
  /** The same with one or two words that it does not contain. */
  misremembered: string
}

const ITEMS = 476
const TOOL_ITEMS = 100
const SAMPLED_SESSIONS = 60

/** Terse messages have no tool turns: the search for one would never end. */
export function makeQueries(messages: Messages, sessions: number, { isTerse = false } = {}): Queries {
  const random = makeRandom(989)
  const from = makeSource(messages, sessions, random)
  const items = (count: number, isWanted: (kind: TurnKind) => boolean) =>
    Array.from({ length: count }, (_, i) => knownItem(from, i / count, isWanted))
  const said = items(ITEMS, (kind) => roleOf(kind) !== "tool")
  const tools = items(isTerse ? 0 : TOOL_ITEMS, (kind) => roleOf(kind) === "tool")

  const latency: LatencyQuery[] = []
  const add = (count: number, type: string, make: () => { query: string; at: Place }) => {
    for (let i = 0; i < count; i++) {
      const { query, at } = make()
      latency.push({ type, query, ...(i % 2 === 1 ? { filter: filterOf(from, at, (i - 1) / 2) } : {}) })
    }
  }
  add(239, "known item", () => {
    const item = knownItem(from, random.next(), () => true)
    return { query: item.remembered, at: from.place(item.session, item.number) }
  })
  for (const terms of [1, 2, 3]) {
    for (const band of BANDS) add(50, `${terms} ${terms === 1 ? "term" : "terms"}`, () => byBand(from, band, terms))
  }
  add(50, "stop words", () => {
    const query = Array.from({ length: 2 + random.below(4) }, () => random.pick(STOP_WORDS)).join(" ")
    return { query, at: from.any() }
  })
  add(100, "prefix", () => {
    const { word, at } = from.word(random.pick(BANDS))
    return { query: `${word.slice(0, 3 + random.below(4))}*`, at }
  })
  add(50, "phrase", () => {
    for (;;) {
      const at = from.any()
      const words = sentenceOf(at.message.text, random)
      if (words.length < 6) continue
      const start = random.below(words.length - 3)
      return { query: `"${words.slice(start, start + 2 + random.below(2)).join(" ")}"`, at }
    }
  })
  add(100, "identifier", () => {
    for (;;) {
      const at = from.any()
      const names = at.message.text.match(/\b[a-z]+(?:[A-Z][a-z]+)+\b|\b[a-z]+\/[\w./-]+\w|\b[a-z]+_[a-z_]+\b/g)
      if (names) return { query: random.pick(names), at }
    }
  })
  // Interleaved, or a pause of the engine would hit one type only.
  return { latency: shuffled(latency, random), said, tools }
}

export function roleOf(kind: TurnKind): Role {
  if (kind === "prompt") return "user"
  return kind === "tool_call" || kind === "tool_result" ? "tool" : "assistant"
}

/** As index terms. */
export function wordsOf(text: string): string[] {
  const words: string[] = []
  eachWord(text, (word) => words.push(word))
  return words
}

/** Keywords without stop words, or all words if nothing else is left. */
export function withoutStopWords(words: readonly string[]): string[] {
  const left = words.filter((word) => !STOP.has(word.toLowerCase()))
  return left.length > 0 ? left : [...words]
}

interface Place {
  session: number
  number: number
  message: Message
}
type Band = (typeof BANDS)[number]
const BANDS = ["common", "mid", "rare"] as const

interface Source {
  random: Random
  messages: Messages
  sessions: number
  any(): Place
  place(session: number, number: number): Place
  word(band: Band, at?: Place): { word: string; at: Place }
  bandOf(word: string): Band
}

/** Estimates word frequencies from a sample of the sessions. */
function makeSource(messages: Messages, sessions: number, random: Random): Source {
  const sampled = Array.from({ length: Math.min(SAMPLED_SESSIONS, sessions) }, (_, i) =>
    Math.floor((i * sessions) / Math.min(SAMPLED_SESSIONS, sessions)),
  )
  const made = new Map<number, Message[]>()
  const of = (session: number) => {
    let list = made.get(session)
    if (!list) {
      list = messages.of(session)
      made.set(session, list)
    }
    return list
  }
  const found = new Map<string, number>()
  let total = 0
  for (const session of sampled) {
    for (const { text } of of(session)) {
      total++
      for (const word of new Set(plainWords(text))) found.set(word, (found.get(word) ?? 0) + 1)
    }
  }
  const source: Source = {
    random,
    messages,
    sessions,
    any: () => source.place(random.pick(sampled), random.below(PER_SESSION)),
    place: (session, number) => ({ session, number, message: of(session)[number]! }),
    bandOf(word) {
      const share = (found.get(word) ?? 0) / total
      if (share >= 0.03) return "common"
      return share >= 0.001 ? "mid" : "rare"
    },
    word(band, given) {
      for (let tries = 0; ; tries++) {
        const at = given && tries < 50 ? given : source.any()
        const words = plainWords(at.message.text).filter((word) => source.bandOf(word) === band)
        if (words.length > 0) return { word: random.pick(words), at }
      }
    },
  }
  return source
}

function byBand(from: Source, band: Band, terms: number): { query: string; at: Place } {
  const first = from.word(band)
  const words = [first.word]
  while (words.length < terms) words.push(from.word(band, first.at).word)
  return { query: words.join(" "), at: first.at }
}

function knownItem(from: Source, age: number, isWanted: (kind: TurnKind) => boolean): KnownItem {
  const { random, sessions } = from
  const session = Math.min(sessions - 1, Math.floor(age * sessions))
  for (;;) {
    const number = random.below(PER_SESSION)
    const { message } = from.place(session, number)
    let exchange = number
    while (from.place(session, exchange).message.kind !== "prompt") exchange--
    const sentence = sentenceOf(message.text, random)
    if (!isWanted(message.kind) || sentence.length < 7) continue
    const keepStopWords = random.chance(0.6)
    const kept = keepStopWords ? sentence : sentence.filter((word) => !STOP.has(word.toLowerCase()))
    const wanted = Math.min(kept.length, 4 + random.below(5))
    // In the order of the sentence, as people remember it.
    const picked = shuffled([...kept.keys()], random)
      .slice(0, wanted)
      .sort((a, b) => a - b)
      .map((i) => kept[i]!)
    if (wanted < 4 || picked.filter((word) => !STOP.has(word.toLowerCase())).length < 3) continue
    const remembered = picked.map((word) => (random.chance(0.25) && !STOP.has(word) ? otherForm(word) : word))
    const fifth = Math.min(4, Math.floor(age * 5))
    return {
      session,
      number,
      exchange,
      kind: message.kind,
      fifth,
      remembered: remembered.join(" "),
      misremembered: misremember(from, remembered, message.text),
    }
  }
}

/** Replaces one or two words with words that the message does not contain in any form. */
export function misremember(
  { random, word }: Pick<Source, "random" | "word">,
  words: readonly string[],
  text: string,
): string {
  const inMessage = new Set(wordsOf(text))
  const changed = [...words]
  const content = changed.flatMap((each, i) => (STOP.has(each.toLowerCase()) ? [] : [i]))
  for (const i of shuffled(content, random).slice(0, 1 + random.below(2))) {
    for (;;) {
      const other = word(random.pick(["common", "mid"])).word
      if (wordsOf(other).some((each) => inMessage.has(each))) continue
      changed[i] = other
      break
    }
  }
  return changed.join(" ")
}

/** A filter that a person may remember: project, platform, session, role or time, in rotation. */
function filterOf(from: Source, { session, message }: Place, turn: number): QueryFilter {
  const plan = from.messages.plan(session)
  const dayMs = 86_400_000
  switch (turn % 5) {
    case 0:
      return { root: plan.root }
    case 1:
      return { platform: plan.platform }
    case 2:
      return { session }
    case 3:
      return { role: roleOf(message.kind) }
    default:
      return { sinceMs: message.atMs - 45 * dayMs, untilMs: message.atMs + 45 * dayMs }
  }
}

/** The words of one sentence outside of code. */
export function sentenceOf(text: string, random: Random): string[] {
  const prose = text.replaceAll(/```[\s\S]*?(```|$)/g, "\n").replaceAll(/\\n/g, "\n")
  const sentences = prose.split(/(?<=[.?!:;])\s+|\n+/).filter((sentence) => /^[A-Z#-].*[a-z]/.test(sentence))
  if (sentences.length === 0) return []
  return random.pick(sentences).match(/[\p{L}\p{N}][\p{L}\p{N}_./-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? []
}

function otherForm(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  if (word.endsWith("ed")) return `${word.slice(0, -2)}ing`
  if (word.endsWith("ing")) return `${word.slice(0, -3)}ed`
  return /[^s]s$/.test(word) ? word.slice(0, -1) : /[^aeiouy]$/.test(word) ? `${word}s` : word
}

function plainWords(text: string): string[] {
  return text.match(/\b[a-z]{3,}\b/g) ?? []
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const copy = [...list]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    ;[copy[i], copy[j]] = [copy[j]!, copy[i]!]
  }
  return copy
}

const STOP_WORDS =
  "the to of a and in is it that for on this with not be as from at you we are was were by an or if then so but do does did have has had will would can could should may what which who when where why how all no there here into out up its our your they he she more than also only without because before after one two some any each those".split(
    " ",
  )
const STOP = new Set(STOP_WORDS)
