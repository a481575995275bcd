const K1 = 1.2
const B = 0.75

/**
 * BM25 over every document, in floats, nothing skipped: what an engine that skips is measured against. Of a million
 * documents only the postings of the words that will be asked for are kept.
 */
export class ExactBm25 {
  readonly #only: ReadonlySet<string> | undefined
  readonly #postings = new Map<string, Postings>()
  #lengths = new Float64Array(1024)
  #totalLength = 0
  #documents = 0

  constructor(only?: ReadonlySet<string>) {
    this.#only = only
  }

  get documents(): number {
    return this.#documents
  }

  /** Documents are numbered from 0 in the order in which they come. */
  add(counts: ReadonlyMap<string, number>, length: number): void {
    const doc = this.#documents++
    if (doc === this.#lengths.length) this.#lengths = grown(this.#lengths, Float64Array)
    this.#lengths[doc] = length
    this.#totalLength += length
    for (const [word, count] of counts) {
      if (this.#only && !this.#only.has(word)) continue
      let list = this.#postings.get(word)
      if (!list) {
        list = new Postings()
        this.#postings.set(word, list)
      }
      list.push(doc, count)
    }
  }

  /** Best first; of equals the newer one. Each word counts once, however often the query has it. */
  top(words: Iterable<string>, limit: number, accept?: (doc: number) => boolean): { doc: number; score: number }[] {
    const scores = new Float64Array(this.#documents)
    const average = this.#totalLength / this.#documents
    for (const word of new Set(words)) {
      if (this.#only && !this.#only.has(word)) throw new Error(`the postings of ${word} were not kept`)
      const list = this.#postings.get(word)
      if (!list) continue
      const idf = Math.log(1 + (this.#documents - list.length + 0.5) / (list.length + 0.5))
      for (let i = 0; i < list.length; i++) {
        const [doc, count] = [list.docs[i]!, list.counts[i]!]
        scores[doc]! += (idf * (K1 + 1) * count) / (count + K1 * (1 - B + (B * this.#lengths[doc]!) / average))
      }
    }
    const best: { doc: number; score: number }[] = []
    for (let doc = this.#documents - 1; doc >= 0; doc--) {
      const score = scores[doc]!
      if (score === 0 || (best.length === limit && score <= best.at(-1)!.score) || accept?.(doc) === false) continue
      let at = best.length
      while (at > 0 && best[at - 1]!.score < score) at--
      best.splice(at, 0, { doc, score })
      if (best.length > limit) best.pop()
    }
    return best
  }
}

class Postings {
  docs = new Uint32Array(4)
  counts = new Float32Array(4)
  length = 0

  push(doc: number, count: number): void {
    if (this.length === this.docs.length) {
      this.docs = grown(this.docs, Uint32Array)
      this.counts = grown(this.counts, Float32Array)
    }
    this.docs[this.length] = doc
    this.counts[this.length++] = count
  }
}

function grown<T extends Uint32Array | Float32Array | Float64Array>(from: T, Made: new (length: number) => T): T {
  const made = new Made(from.length * 2)
  made.set(from)
  return made
}
