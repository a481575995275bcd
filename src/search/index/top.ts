import { TopK } from "../../lib/top-k.ts"
import type { Docs } from "./docs.ts"

export interface ScoredDoc {
  view: number
  doc: number
  score: number
}

/** Ties: the newer, then the larger ref. */
export class Top {
  /** The score that a document needs. */
  floor = 1
  readonly #docs: readonly Docs[]
  readonly #best: TopK<ScoredDoc>

  constructor(limit: number, docs: readonly Docs[]) {
    this.#docs = docs
    this.#best = new TopK(limit, (a, b) => this.#isWorse(a, b))
  }

  push(score: number, view: number, doc: number): void {
    this.#best.offer({ view, doc, score })
    this.floor = Math.max(this.floor, this.#best.worst?.score ?? 0)
  }

  /** Best first. */
  found(): ScoredDoc[] {
    return this.#best.items().toSorted((a, b) => (this.#isWorse(a, b) ? 1 : -1))
  }

  #isWorse(a: ScoredDoc, b: ScoredDoc): boolean {
    if (a.score !== b.score) return a.score < b.score
    const [docsOfA, docsOfB] = [this.#docs[a.view]!, this.#docs[b.view]!]
    const [atA, atB] = [docsOfA.atMs[a.doc]!, docsOfB.atMs[b.doc]!]
    return atA === atB ? docsOfA.ref[a.doc]! < docsOfB.ref[b.doc]! : atA < atB
  }
}
