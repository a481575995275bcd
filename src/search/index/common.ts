import { setImmediate as nextTurn } from "node:timers/promises"
import type { IndexTables, Term } from "../../domain/index-tables.ts"
import type { Counts } from "./counts.ts"

/** A word in so many documents is common. At a million messages one in sixty is. */
export const COMMON_DOCS = 128
/** Words of the dictionary that are read in a row. */
const READ_WORDS = 1_000

/**
 * The common words, in memory: a short prefix stands for some of them, and need not be looked for among a hundred thousand
 * others. They are learnt from the dictionary when the first prefix comes, and then from what is written.
 */
export class CommonWords {
  readonly #tables: IndexTables
  readonly #counts: Counts
  #learning: Learning | undefined

  constructor(tables: IndexTables, counts: Counts) {
    this.#tables = tables
    this.#counts = counts
  }

  /** All that begin so and are common, and maybe some that were; undefined while that is not known. */
  withPrefix(prefix: string): Term[] | undefined {
    if (!this.#learning) {
      this.#learning = { terms: new Set(), added: [], sorted: [], isDone: false }
      // What fails here fails for the search that looks in the dictionary itself, and is told there.
      this.#learn(this.#learning).catch(() => this.clear())
    }
    const { isDone } = this.#learning
    return isDone ? this.#sorted(this.#learning, prefix) : undefined
  }

  /** To be told of every word whose count has grown. */
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
      const rows = await this.#tables.termsAfter(last, READ_WORDS)
      if (learning !== this.#learning) return
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
    let from = 0
    for (let high = sorted.length; from < high; ) {
      const middle = (from + high) >> 1
      if (sorted[middle]!.word < prefix) from = middle + 1
      else high = middle
    }
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
