import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { defined } from "../../lib/defined.ts"
import type { DocInfo, Engine, EngineFilter, EngineHit } from "../index/engine.ts"
import type { Vectors } from "../vectors/vectors.ts"
import { containsPhrase } from "../words/phrase.ts"
import { type ParsedQuery, parseQuery } from "../words/query.ts"
import { boost } from "./boosts.ts"
import { byScore, type Candidate } from "./candidate.ts"
import { foldToExchanges } from "./exchanges.ts"
import { withMeaning } from "./meaning.ts"
import { pageOf, textsOf } from "./page.ts"
import type { SearchRequest, SearchResult } from "./request.ts"
import type { Scopes } from "./scope.ts"
import { smoothTurns } from "./turns.ts"

export interface SearchParts {
  store: Store
  engine: Engine
  scopes: Scopes
  clock: Clock
  /** Absent without an embedder. */
  vectors?: Vectors | undefined
}

/** The minimum of candidates to rank. Single turns need more, because neighbours can lift them. */
const CANDIDATES = { exchange: 40, turn: 80 }
/** How many candidates are checked for a phrase: few at first, then many. */
const PHRASE_CANDIDATES = [500, 2_000]
/** Texts per read: a small batch first, because it is often enough. */
const FIRST_TEXTS = 128
const MORE_TEXTS = 512
/** Hits of the preferred project come first unless they score below this share of the best hit anywhere. */
const FIRST_PROJECT_FLOOR = 0.4

export async function search(parts: SearchParts, request: SearchRequest): Promise<Omit<SearchResult, "isComplete">> {
  const query = parseQuery(request.query, parts.clock.nowMs())
  if (query.isEmpty) return { hits: [], notes: [...query.notes, "The query has no word to search for."] }
  const notes = [...query.notes]
  const everywhere = await ranked(parts, request, query, notes)
  const best =
    request.firstProjectId === undefined
      ? everywhere
      : ownFirst(await ranked(parts, { ...request, projectId: request.firstProjectId }, query, []), everywhere)
  const page = best.slice(0, request.limit)
  return {
    hits: await pageOf(parts.store, page, query, (candidate) => answerOf(parts.engine, candidate), request.chars),
    notes,
  }
}

async function ranked(
  parts: SearchParts,
  request: SearchRequest,
  query: ParsedQuery,
  notes: string[],
): Promise<Candidate[]> {
  const { engine, clock } = parts
  const all = query.phrases.map(({ words }) => words)
  const words = engine.expand({ words: query.words, all })
  const filter = await filterOf(parts, request)
  const written = { ...query, words: words.map((word) => ({ ...word, isPrefix: false })) }
  const hits = await found(parts, request, filter, written, notes)
  const isTurns = request.unit === "turn"
  const byWords = isTurns ? smoothTurns(engine, hits, acceptorOf(filter)) : foldToExchanges(engine, hits, words)
  // Semantic hits have neither the phrase nor the role.
  const isAboutMeaning = !isTurns && query.phrases.length === 0 && request.kinds === undefined
  const candidates =
    parts.vectors && isAboutMeaning
      ? await withMeaning(byWords, { engine, vectors: parts.vectors, query: request.query, filter })
      : byWords
  const left = query.excluded.length === 0 ? candidates : await withoutExcluded(parts, candidates, query)
  boost(left, { query, recent: request.recent ?? false, nowMs: clock.nowMs(), session: isTurns })
  return withoutCopies(parts, left.sort(byScore), request.limit)
}

/** A fork starts with a copy of its original, timestamps included: return each turn once. */
async function withoutCopies({ store }: SearchParts, ranked: Candidate[], limit: number): Promise<Candidate[]> {
  const first = ranked.slice(0, limit * 2)
  const alike = [...Map.groupBy(first, ({ kind, atMs, length }) => `${kind} ${atMs} ${length}`).values()]
  const suspects = alike.filter((group) => group.length > 1).flat()
  if (suspects.length === 0) return ranked
  const refs = suspects.map(({ ref }) => ref)
  const texts = await textsOf(store, refs)
  const seen = new Set<string>()
  const copies = new Set(
    suspects.filter(({ ref, atMs }) => {
      const key = `${atMs} ${texts.get(ref)}`
      return seen.has(key) || !seen.add(key)
    }),
  )
  return ranked.filter((candidate) => !copies.has(candidate))
}

async function found(
  parts: SearchParts,
  request: SearchRequest,
  filter: EngineFilter,
  query: ParsedQuery,
  notes: string[],
): Promise<EngineHit[]> {
  if (filter.sessionIds?.size === 0) return []
  const ask = (limit: number) =>
    parts.engine.search({
      words: query.words,
      all: query.phrases.map(({ words }) => words),
      none: query.excluded.filter(({ words }) => words.length === 1).flatMap(({ words }) => words),
      filter,
      limit,
    })
  const wanted = Math.max(CANDIDATES[request.unit ?? "exchange"], request.limit * 4)
  return query.phrases.length === 0 ? ask(wanted) : withPhrases(parts.store, ask, query, { ...request, wanted }, notes)
}

export async function filterOf({ scopes }: Pick<SearchParts, "scopes">, request: SearchRequest): Promise<EngineFilter> {
  const { kinds, sinceMs, untilMs, superseded } = request
  const sessionIds = await scopes.of(request)
  return defined({ sessionIds, kinds: kinds && new Set(kinds), sinceMs, untilMs, hidden: superseded || undefined })
}

/** The best hits that contain the phrases literally. Texts are read best first, until there are enough. */
async function withPhrases(
  store: Store,
  ask: (limit: number) => EngineHit[],
  { phrases }: ParsedQuery,
  { limit, wanted }: { limit: number; wanted: number },
  notes: string[],
): Promise<EngineHit[]> {
  const held: EngineHit[] = []
  const read = new Set<number>()
  for (const most of PHRASE_CANDIDATES) {
    const hits = ask(most)
    const unread = hits.filter(({ ref }) => !read.has(ref))
    while (unread.length > 0 && held.length < wanted) {
      const some = unread.splice(0, read.size === 0 ? FIRST_TEXTS : MORE_TEXTS)
      const refs = some.map(({ ref }) => ref)
      const texts = await textsOf(store, refs)
      for (const ref of refs) read.add(ref)
      held.push(
        ...some.filter(({ ref }) => {
          const text = texts.get(ref)
          return text !== undefined && phrases.every((phrase) => containsPhrase(text, phrase.text))
        }),
      )
    }
    if (held.length >= limit || hits.length < most) return held
  }
  notes.push(`Only the ${PHRASE_CANDIDATES.at(-1)} best matching texts were searched for the phrase.`)
  return held
}

/** Drops an exchange if any of its turns contains an excluded term. */
async function withoutExcluded(
  { engine, store }: SearchParts,
  candidates: readonly Candidate[],
  query: ParsedQuery,
): Promise<Candidate[]> {
  const kept: Candidate[] = []
  for (const candidate of candidates) {
    const refs =
      candidate.kind === "thought" ? [candidate.ref] : engine.docsOfExchange(candidate.sessionId, candidate.exchange)
    const holds = async ({ words, text }: ParsedQuery["excluded"][number]) => {
      const weights = engine.weights(refs, words)
      const suspects = refs.filter((_, index) => weights.every((ofWord) => ofWord[index]! > 0))
      if (words.length === 1 || suspects.length === 0) return suspects.length > 0
      const texts = await textsOf(store, suspects)
      return [...texts.values()].some((each) => containsPhrase(each, text))
    }
    let isOut = false
    for (const excluded of query.excluded) isOut ||= await holds(excluded)
    if (!isOut) kept.push(candidate)
  }
  return kept
}

/** Neighbours that smoothing adds must pass the same filters. */
function acceptorOf({ sessionIds, kinds, sinceMs, untilMs, hidden }: EngineFilter): (doc: DocInfo) => boolean {
  return ({ sessionId, kind, atMs, isHidden }) =>
    (sessionIds?.has(sessionId) ?? true) &&
    (kinds?.has(kind) ?? true) &&
    (sinceMs === undefined || atMs >= sinceMs) &&
    (untilMs === undefined || atMs < untilMs) &&
    (hidden === true || !isHidden)
}

function ownFirst(own: Candidate[], everywhere: Candidate[]): Candidate[] {
  const floor = (everywhere[0]?.score ?? 0) * FIRST_PROJECT_FLOOR
  const first = own.filter(({ score }) => score >= floor)
  const refs = new Set(first.map(({ ref }) => ref))
  return [...first, ...everywhere.filter(({ ref }) => !refs.has(ref))]
}

/** The best matching reply of the exchange, or else its last one. */
function answerOf(engine: Engine, candidate: Candidate): DocInfo | undefined {
  if (candidate.kind === "thought") return undefined
  const isReply = ({ kind }: { kind: string }) => kind === "reply" || kind === "summary"
  const fitting = candidate.hits.filter(isReply).sort((a, b) => b.score - a.score)[0]
  if (fitting) return fitting
  const refs = engine.docsOfExchange(candidate.sessionId, candidate.exchange)
  return refs.map((ref) => engine.info(ref)!).findLast(isReply)
}
