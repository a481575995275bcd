import { exchangesOf } from "../../domain/exchange.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import type { Engine } from "../index/engine.ts"
import { refOfTurn, seqOf } from "../query/refs.ts"
import type { ExchangeSource, ListedExchange } from "./embedding.ts"
import { embeddedText } from "./text.ts"

/** The indexed exchanges, with their texts from the archive. */
export function exchangeSource(store: Store, engine: () => Promise<Engine>): ExchangeSource {
  return {
    async below(exchange, limit) {
      const known = await engine()
      const most = Math.min(exchange, MOST_SEQ)
      return known.prompts(refOfTurn(most), limit).map((ref) => listed(known, ref))
    },
    count: async () => (await engine()).countPrompts(),
    async textOf({ exchange, sessionId }) {
      const [first] = exchangesOf(await store.turns.ofExchange(sessionId as SessionId, exchange))
      return first && embeddedText(first)
    },
  }
}

const MOST_SEQ = 2 ** 31 - 1

export function listed(engine: Engine, prompt: number): ListedExchange {
  const { sessionId } = engine.info(prompt)!
  const exchange = seqOf(prompt)
  const times = engine.docsOfExchange(sessionId, exchange).map((ref) => engine.info(ref)!.atMs)
  return { exchange, sessionId, changedAtMs: Math.max(0, ...times) }
}
