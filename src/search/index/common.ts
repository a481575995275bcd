import type { IndexTables, Term } from "../../domain/index-tables.ts"
import { nextTurn } from "../../lib/clock.ts"
import type { Counts } from "./counts.ts"
import { lowerBound } from "./posting-list.ts"

/** At a million messages, one word in sixty is in this many documents. */
export const COMMON_DOCS = 128
/** Words read from the dictionary before searches get a turn. */
const READ_WORDS = 1_000

/**
 * The common words, in memory: a short prefix expands to some of them, so a hundred thousand others need not be read. Loaded
 * from the dictionary with the first prefix query, then updated by flushes.
 */
export class CommonWords {
  readonly #tables: IndexTables
  readonly #counts: Counts
  #learning: Learning | undefined

  constructor(tables: IndexTables, counts: Counts) {
    this.#tables = tables
    this.#counts = counts
  }

  /** All common words with this prefix, perhaps also former ones; undefined until they are loaded. */
  withPrefix(prefix: string): Term[] | undefined {
    if (!this.#learning) {
      this.#learning = { terms: new Set(), added: [], sorted: [], isDone: false }
      // The search then reads the dictionary itself, and reports the failure.
      this.#learn(this.#learning).catch(() => this.clear())
    }
    const { isDone } = this.#learning
    return isDone ? this.#sorted(this.#learning, prefix) : undefined
  }

  /** Must be called for every word whose count has grown. */
  add(word: string, term: number): void {
    const learning = this.#learning
    if (!learning || this.#counts.of(term) < COMMON_DOCS || learning.terms.has(term)) return
    learning.terms.add(term)
    learning.added.push({ word, term })
  }

  clear(): void {
    this.#learning = undefined
  }

  async #learn(learning: Learning): Promise<void> {
    for (let last = ""; learning === this.#learning; await nextTurn()) {
      const rows = this.#tables.termsAfter(last, READ_WORDS)
      for (const { word, term } of rows) this.add(word, term)
      learning.isDone = rows.length < READ_WORDS
      if (learning.isDone) return
      last = rows.at(-1)!.word
    }
  }

  #sorted(learning: Learning, prefix: string): Term[] {
    if (learning.added.length > 0) {
      learning.sorted = [...learning.sorted, ...learning.added].sort((a, b) => (a.word < b.word ? -1 : 1))
      learning.added = []
    }
    const { sorted } = learning
    const from = lowerBound(0, sorted.length, (at) => sorted[at]!.word < prefix)
    let to = from
    while (to < sorted.length && sorted[to]!.word.startsWith(prefix)) to++
    return sorted.slice(from, to)
  }
}

interface Learning {
  terms: Set<number>
  /** Not sorted yet. */
  added: Term[]
  sorted: Term[]
  isDone: boolean
}
