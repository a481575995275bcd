import { describe, expect, test } from "vitest"
import { makeMessages } from "../../bench/corpus/messages.ts"
import { ExactBm25 } from "../../bench/exact.ts"
import { wordsOf } from "../../bench/search-queries.ts"

const docs = makeMessages({ sessions: 1 })
  .of(0)
  .map(({ text }) => wordsOf(text))
const queries = [
  "the cache of the server",
  "refresh token",
  "to",
  "export function value",
  "nothing-like-this zzzz",
].map(wordsOf)

/** As in the books, word by word and document by document. */
function naive(query: string[], limit: number): { doc: number; score: number }[] {
  const average = docs.reduce((sum, doc) => sum + doc.length, 0) / docs.length
  return docs
    .map((doc, number) => {
      let score = 0
      for (const word of new Set(query)) {
        const having = docs.filter((other) => other.includes(word)).length
        const count = doc.filter((other) => other === word).length
        const idf = Math.log(1 + (docs.length - having + 0.5) / (having + 0.5))
        score += (idf * count * 2.2) / (count + 1.2 * (0.25 + (0.75 * doc.length) / average))
      }
      return { doc: number, score }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || b.doc - a.doc)
    .slice(0, limit)
}

function filled(only?: Set<string>): ExactBm25 {
  const index = new ExactBm25(only)
  for (const words of docs) {
    const counts = new Map<string, number>()
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
    index.add(counts, words.length)
  }
  return index
}

describe("the exact reference", () => {
  test.each(queries.map((query) => [query.join(" "), query] as const))("ranks %s as the formula does", (_, query) => {
    const expected = naive(query, 10)
    const found = filled().top(query, 10)
    expect(found.map(({ doc }) => doc)).toEqual(expected.map(({ doc }) => doc))
    for (const [i, { score }] of found.entries()) expect(score).toBeCloseTo(expected[i]!.score, 9)
  })

  test("finds the same when it keeps the words of the queries only, and refuses others", () => {
    const few = filled(new Set(queries.flat()))
    for (const query of queries) expect(few.top(query, 10)).toEqual(filled().top(query, 10))
    expect(() => few.top(["unasked"], 10)).toThrow("unasked")
  })

  test("leaves out what is not accepted", () => {
    const even = (doc: number) => doc % 2 === 0
    const found = filled().top(queries[0]!, 5, even)
    const expected = naive(queries[0]!, docs.length).filter(({ doc }) => even(doc))
    expect(found.map(({ doc }) => doc)).toEqual(expected.slice(0, 5).map(({ doc }) => doc))
  })
})
