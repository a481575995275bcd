import { makeMessages, PER_SESSION } from "./corpus/messages.ts"
import { ExactBm25 } from "./exact.ts"
import { type KnownItem, makeQueries, wordsOf } from "./search-queries.ts"

/**
 * For each known item of each set: whether exact BM25 has it among its first ten, by turn; and whether its exchange is one of
 * the first ten when each stands where its best turn does. No stop list, no weights, every word.
 */
export interface ExactHits {
  turn: { k1: boolean[]; k2: boolean[]; t1: boolean[]; t2: boolean[] }
  exchange: { k1: boolean[]; k2: boolean[]; t1: boolean[]; t2: boolean[] }
}

/** Deep enough for ten exchanges: none has more turns in common with a query than this allows. */
const DEPTH = 200

export async function exactHits(sessions: number): Promise<ExactHits> {
  const messages = makeMessages({ sessions })
  const { said, tools } = makeQueries(messages, sessions)
  const asked = [...said, ...tools].flatMap(({ remembered, misremembered }) => [remembered, misremembered])
  const index = new ExactBm25(new Set(asked.flatMap(wordsOf)))
  const exchangeOf = new Uint32Array(sessions * PER_SESSION)
  for (let session = 0; session < sessions; session++) {
    for (const { text, kind } of messages.of(session)) {
      const doc = index.documents
      exchangeOf[doc] = kind === "prompt" || doc % PER_SESSION === 0 ? doc : exchangeOf[doc - 1]!
      const words = wordsOf(text)
      const counts = new Map<string, number>()
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
      index.add(counts, words.length)
    }
    // The store is filled meanwhile, by a process that reports to this one.
    if (session % 20 === 0) await new Promise(setImmediate)
  }
  const hits: ExactHits = { turn: none(), exchange: none() }
  const ask = (set: keyof ExactHits["turn"], items: KnownItem[], text: (item: KnownItem) => string) => {
    for (const item of items) {
      const found = index.top(wordsOf(text(item)), DEPTH).map(({ doc }) => doc)
      const exchanges = [...new Set(found.map((doc) => exchangeOf[doc]!))]
      hits.turn[set].push(found.slice(0, 10).includes(item.session * PER_SESSION + item.number))
      hits.exchange[set].push(exchanges.slice(0, 10).includes(item.session * PER_SESSION + item.exchange))
    }
  }
  ask("k1", said, ({ remembered }) => remembered)
  ask("k2", said, ({ misremembered }) => misremembered)
  ask("t1", tools, ({ remembered }) => remembered)
  ask("t2", tools, ({ misremembered }) => misremembered)
  return hits
}

const none = () => ({ k1: [], k2: [], t1: [], t2: [] })
