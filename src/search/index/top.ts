import type { Docs } from "./docs.ts"

export interface ScoredDoc {
  view: number
  doc: number
  score: number
}

/** Top-k heap, the worst on top. Ties: the newer, then the larger ref. */
export class Top {
  /** The score that a document needs. */
  floor = 1
  readonly #limit: number
  readonly #docs: readonly Docs[]
  readonly #heap: ScoredDoc[] = []

  constructor(limit: number, docs: readonly Docs[]) {
    this.#limit = limit
    this.#docs = docs
  }

  push(score: number, view: number, doc: number): void {
    const heap = this.#heap
    const found = { view, doc, score }
    if (heap.length < this.#limit) {
      heap.push(found)
      this.#rise(heap.length - 1)
    } else if (this.#isWorse(heap[0]!, found)) {
      heap[0] = found
      this.#sink(0)
    }
    if (heap.length === this.#limit && heap[0]!.score > this.floor) this.floor = heap[0]!.score
  }

  /** Best first. */
  found(): ScoredDoc[] {
    return this.#heap.toSorted((a, b) => (this.#isWorse(a, b) ? 1 : -1))
  }

  #isWorse(a: ScoredDoc, b: ScoredDoc): boolean {
    if (a.score !== b.score) return a.score < b.score
    const [docsOfA, docsOfB] = [this.#docs[a.view]!, this.#docs[b.view]!]
    const [atA, atB] = [docsOfA.atMs[a.doc]!, docsOfB.atMs[b.doc]!]
    return atA === atB ? docsOfA.ref[a.doc]! < docsOfB.ref[b.doc]! : atA < atB
  }

  #rise(from: number): void {
    const heap = this.#heap
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#isWorse(heap[at]!, heap[parent]!)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #sink(from: number): void {
    const heap = this.#heap
    let at = from
    for (;;) {
      let worst = at
      for (const child of [at * 2 + 1, at * 2 + 2])
        if (child < heap.length && this.#isWorse(heap[child]!, heap[worst]!)) worst = child
      if (worst === at) return
      this.#swap(at, worst)
      at = worst
    }
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap
    const kept = heap[a]!
    heap[a] = heap[b]!
    heap[b] = kept
  }
}
