import type { Shelf } from "./shelf.ts"

/** How many words a prefix stands for. */
const PREFIX_WORDS = 32
/** With a count of 31 bits, a place in the dictionary has to fit into a number. */
const PLACE = 2 ** 22

/** Of the words that begin so, those in most documents; of equal ones those whose bytes come first. */
export async function withPrefix(shelf: Shelf, prefix: string): Promise<string[]> {
  if (prefix === "" || !prefix.isWellFormed() || prefix.includes("\0")) return []
  for (;;) {
    const { deltas } = shelf
    const fresh = freshCounts(shelf, prefix)
    const freshWords = [...fresh.keys()]
    const freshTerms = await shelf.termsOf(freshWords)
    const terms = await shelf.tables.termsWithPrefix(prefix)
    if (deltas !== shelf.deltas) continue
    const more = new Map(freshTerms.map((term, at) => [term, fresh.get(freshWords[at]!)!]))
    const totalOf = (term: number) => shelf.counts.of(term) + (more.get(term) ?? 0)
    const best = mostFrequent(terms, totalOf)
    const totals = new Map(best.map((term) => [term, totalOf(term)]))
    const written = best.length === 0 ? [] : await shelf.tables.wordsWithPrefix(prefix, best)
    const unwritten = freshWords.filter((_, at) => freshTerms[at] === 0)
    return [
      ...written.map(({ word, term }) => ({ word, docs: totals.get(term)! })),
      ...unwritten.map((word) => ({ word, docs: fresh.get(word)! })),
    ]
      .sort((a, b) => b.docs - a.docs || Buffer.compare(Buffer.from(a.word), Buffer.from(b.word)))
      .slice(0, PREFIX_WORDS)
      .map(({ word }) => word)
  }
}

/** Of words that are in memory only, or are also there. */
function freshCounts({ deltas }: Shelf, prefix: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { words, docs } of deltas)
    for (const [word, postings] of words) {
      if (!word.startsWith(prefix)) continue
      const live = postings.filter((posting) => !docs.isRemoved(posting >> 8)).length
      if (live > 0) counts.set(word, (counts.get(word) ?? 0) + live)
    }
  return counts
}

/** Terms come in the order of their words. */
function mostFrequent(terms: readonly number[], totalOf: (term: number) => number): number[] {
  const packed = Float64Array.from(terms, (term, at) => totalOf(term) * PLACE + (PLACE - 1 - at)).sort()
  return Array.from(packed.subarray(-PREFIX_WORDS), (each) => terms[PLACE - 1 - (each % PLACE)]!)
}
