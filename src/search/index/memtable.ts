import { type DocFacts, Docs } from "./docs.ts"
import { impactOf } from "./impact.ts"
import { type PostingList, postingsOf } from "./posting-list.ts"

/** Longer words are not indexed. */
const MAX_WORD_CHARS = 256

/** Documents not written yet, in order of arrival; searchable at once. */
export class Memtable {
  readonly docs = new Docs(64)
  /** By word: document << 8 | impact, ascending. */
  readonly words = new Map<string, number[]>()
  /** The journal number up to which this memtable and those before it have everything. */
  position: number
  readonly #byRef = new Map<number, number>()
  readonly #bySession = new Map<number, number[]>()

  constructor(position: number) {
    this.position = position
  }

  add(facts: DocFacts, words: ReadonlyMap<string, number>): void {
    const doc = this.docs.push(facts)
    this.#byRef.set(facts.ref, doc)
    const ofSession = this.#bySession.get(facts.session)
    if (ofSession) ofSession.push(doc)
    else this.#bySession.set(facts.session, [doc])
    for (const [word, count] of words) {
      if (!(count > 0) || !isKeepable(word)) continue
      const posting = (doc << 8) | impactOf(count, facts.length)
      const list = this.words.get(word)
      if (list) list.push(posting)
      else this.words.set(word, [posting])
    }
  }

  /** -1 if it is absent or removed. */
  find(ref: number): number {
    return this.#byRef.get(ref) ?? -1
  }

  remove(doc: number): void {
    this.docs.remove(doc)
    this.#byRef.delete(this.docs.ref[doc]!)
  }

  list(word: string): PostingList | undefined {
    const postings = this.words.get(word)
    if (!postings) return undefined
    const docs = new Uint32Array(postings.length)
    const impacts = new Uint8Array(postings.length)
    for (let at = 0; at < postings.length; at++) {
      docs[at] = postings[at]! >> 8
      impacts[at] = postings[at]! & 255
    }
    return postingsOf(docs, impacts, this.docs.size)
  }

  docsOfSession(session: number): readonly number[] {
    return this.#bySession.get(session) ?? NONE
  }

  docsOfExchange(session: number, exchange: number): readonly number[] {
    const own = this.#bySession.get(session)
    return own ? own.filter((doc) => this.docs.exchange[doc] === exchange) : NONE
  }
}

const NONE: readonly number[] = []

/** A key ends at its NUL, and half a surrogate pair would come back as another word. */
function isKeepable(word: string): boolean {
  return word !== "" && word.length <= MAX_WORD_CHARS && !word.includes("\0") && word.isWellFormed()
}
