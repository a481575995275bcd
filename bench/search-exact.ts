import { makeMessages, PER_SESSION } from "./corpus/messages.ts"
import { ExactBm25 } from "./exact.ts"
import { type KnownItem, makeQueries, wordsOf } from "./search-queries.ts"

/** For each known item of each set: whether exact BM25 has it among its first ten. No stop list, no weights, every word. */
export interface ExactHits {
  k1: boolean[]
  k2: boolean[]
  t1: boolean[]
  t2: boolean[]
}

export async function exactHits(sessions: number): Promise<ExactHits> {
  const messages = makeMessages({ sessions })
  const { said, tools } = makeQueries(messages, sessions)
  const asked = [...said, ...tools].flatMap(({ remembered, misremembered }) => [remembered, misremembered])
  const index = new ExactBm25(new Set(asked.flatMap(wordsOf)))
  for (let session = 0; session < sessions; session++) {
    for (const { text } of messages.of(session)) {
      const words = wordsOf(text)
      const counts = new Map<string, number>()
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
      index.add(counts, words.length)
    }
    // The store is filled meanwhile, by a process that reports to this one.
    if (session % 20 === 0) await new Promise(setImmediate)
  }
  const hits = (items: KnownItem[], text: (item: KnownItem) => string) =>
    items.map((item) => {
      const doc = item.session * PER_SESSION + item.number
      return index.top(wordsOf(text(item)), 10).some((found) => found.doc === doc)
    })
  return {
    k1: hits(said, ({ remembered }) => remembered),
    k2: hits(said, ({ misremembered }) => misremembered),
    t1: hits(tools, ({ remembered }) => remembered),
    t2: hits(tools, ({ misremembered }) => misremembered),
  }
}
