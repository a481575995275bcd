import { COMMON_DOCS } from "./common.ts"
import type { IndexState } from "./index-state.ts"

/** Words per prefix. */
const PREFIX_WORDS = 32
/** A count of 31 bits and a place in the dictionary must fit a number together. */
const PLACE = 2 ** 22

/** The most frequent words with this prefix; ties by their bytes. */
export function withPrefix(state: IndexState, prefix: string): string[] {
  if (prefix === "" || !prefix.isWellFormed() || prefix.includes("\0")) return []
  const fresh = freshCounts(state, prefix)
  const words = [...fresh.keys()]
  const terms = state.termsOf(words)
  const common = amongCommon(state, prefix, fresh, terms)
  if (common) return common
  const more = new Map(terms.map((term, at) => [term, fresh.get(words[at]!)!]))
  const totalOf = (term: number) => state.counts.of(term) + (more.get(term) ?? 0)
  const best = mostFrequent(state.tables.termsWithPrefix(prefix), totalOf)
  const written = best.length === 0 ? [] : state.tables.wordsWithPrefix(prefix, best)
  const unwritten = words.filter((_, at) => terms[at] === 0)
  return firstOf([
    ...written.map(({ word, term }) => ({ word, docs: totalOf(term) })),
    ...unwritten.map((word) => ({ word, docs: fresh.get(word)! })),
  ])
}

/** Undefined unless there are enough common words: then no other word is as frequent. */
function amongCommon(
  state: IndexState,
  prefix: string,
  fresh: ReadonlyMap<string, number>,
  freshTerms: readonly number[],
): string[] | undefined {
  const common = state.common.withPrefix(prefix)
  if (!common) return undefined
  const totals = new Map(common.map(({ word, term }) => [word, state.counts.of(term)]))
  let at = 0
  for (const [word, docs] of fresh) totals.set(word, state.counts.of(freshTerms[at++]!) + docs)
  const enough = Array.from(totals, ([word, docs]) => ({ word, docs })).filter(({ docs }) => docs >= COMMON_DOCS)
  return enough.length < PREFIX_WORDS ? undefined : firstOf(enough)
}

function firstOf(words: { word: string; docs: number }[]): string[] {
  return words
    .sort((a, b) => b.docs - a.docs || Buffer.compare(Buffer.from(a.word), Buffer.from(b.word)))
    .slice(0, PREFIX_WORDS)
    .map(({ word }) => word)
}

/** Document frequencies in the memtables. */
function freshCounts({ memtables }: IndexState, prefix: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { words, docs } of memtables)
    for (const [word, postings] of words) {
      if (!word.startsWith(prefix)) continue
      const live = postings.filter((posting) => !docs.isRemoved(posting >> 8)).length
      if (live > 0) counts.set(word, (counts.get(word) ?? 0) + live)
    }
  return counts
}

/** `terms` are ordered by their words, which breaks ties. */
function mostFrequent(terms: readonly number[], totalOf: (term: number) => number): number[] {
  const packed = Float64Array.from(terms, (term, at) => totalOf(term) * PLACE + (PLACE - 1 - at)).sort()
  return Array.from(packed.subarray(-PREFIX_WORDS), (each) => terms[PLACE - 1 - (each % PLACE)]!)
}
