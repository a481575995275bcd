import { describe, expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { Docs } from "./docs.ts"
import { decodePostings, encodePostings, impactIn, type PostingList } from "./posting-list.ts"
import { rank } from "./rank.ts"

/** So many documents, and of words so many that have them, that each of the three forms of a list is there. */
const SIZE = 200_000
const COUNTS = [2_100, 2_300, 9_000, 40_000, 120_000, 150_000]

const random = makeRandom(3)
const docs = new Docs(SIZE)
for (let doc = 0; doc < SIZE; doc++)
  docs.push({ ref: doc, session: 0, kind: 0, atMs: random.below(1_000), exchange: doc, length: 10 })
const lists = COUNTS.map((count) => {
  const postings: number[] = []
  for (let doc = 0; doc < SIZE; doc++)
    // Few impacts, so that many documents have the same score.
    if (random.chance(count / SIZE)) postings.push((doc * 256 + (1 + random.below(3)) * 60) >>> 0)
  return decodePostings(encodePostings(Uint32Array.from(postings), SIZE), SIZE)
})

describe("documents that have all required words, and the best of them,", () => {
  test("are of lists of every form", () => {
    const formOf = ({ docs, places }: PostingList) => (docs ? "few" : places ? "many" : "most")
    expect(new Set(lists.map(formOf))).toEqual(new Set(["few", "many", "most"]))
    expect(Math.min(...lists.map(({ count }) => count)), "more than are looked at one by one").toBeGreaterThan(2_048)
  })

  test.each([
    { required: [4, 5], others: [] },
    { required: [2, 4], others: [5, 0] },
    { required: [0, 5], others: [3] },
    { required: [1, 3, 4], others: [2] },
    { required: [3], others: [0, 4] },
    { required: [2, 3, 4, 5], others: [] },
    { required: [0, 1], others: [5] },
  ])("are those that every document tells: $required required, $others not", ({ required, others }) => {
    const terms = [...required, ...others].map((word, at) => ({ weight: 1_000 + at * 700, lists: [lists[word]!] }))
    const isOdd = (doc: number) => doc % 2 === 1
    for (const limit of [1, 10, 500, 5_000]) {
      const found = rank({
        views: [{ docs }],
        terms,
        required: required.map((word) => [lists[word]!]),
        accepts: () => isOdd,
        only: () => undefined,
        limit,
      })
      expect(found.map(({ doc, score }) => [doc, score])).toEqual(best(required, terms, isOdd).slice(0, limit))
    }
  })
})

function best(
  required: readonly number[],
  terms: readonly { weight: number; lists: readonly PostingList[] }[],
  accept: (doc: number) => boolean,
): [doc: number, score: number][] {
  const all: [number, number][] = []
  for (let doc = 0; doc < SIZE; doc++) {
    if (!accept(doc) || required.some((word) => impactIn(lists[word]!, doc) === 0)) continue
    all.push([doc, terms.reduce((sum, term) => sum + term.weight * impactIn(term.lists[0]!, doc), 0)])
  }
  const { atMs, ref } = docs
  return all.sort(([a, x], [b, y]) => y - x || atMs[b]! - atMs[a]! || ref[b]! - ref[a]!)
}
