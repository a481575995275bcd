import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import Database from "better-sqlite3"
import { hashed } from "../src/adapters/embedders/hashed.ts"
import { systemClock } from "../src/domain/clock.ts"
import { exchangesOf } from "../src/domain/exchange.ts"
import type { Session } from "../src/domain/session.ts"
import type { Store } from "../src/domain/store.ts"
import { fuse } from "../src/recall/vectors/fuse.ts"
import { openVectorIndex } from "../src/recall/vectors/index.ts"
import { embeddedText } from "../src/recall/vectors/text.ts"
import { vectorsSqlite } from "../src/store/vectors-sqlite.ts"
import type { Place } from "./search-fill.ts"
import type { QueryFilter } from "./search-queries.ts"
import type { Found, Target } from "./search-target.ts"

const CANDIDATES = 100

/** Searches by words and by the vectors of every exchange that is there now, made by the embedder that needs no model. */
export async function withVectors(target: Target, store: Store, place: Place): Promise<Target> {
  if (place.kind !== "sqlite") throw new Error("vectors are measured on SQLite")
  const embedder = await hashed.open({ kind: "hashed", dimension: 384 })
  const db = new Database(join(dirname(place.path), "vectors.db"))
  db.pragma("journal_mode = WAL")
  const index = await openVectorIndex(embedder, vectorsSqlite(db), systemClock)
  const sessions = await store.sessions.list({ limit: 1_000_000 })
  const sessionOf = new Map<number, Session>()
  for (const session of sessions) {
    const exchanges = exchangesOf(await store.turns.ofSession(session.id))
    for (const { id } of exchanges) sessionOf.set(Number(id), session)
    const listed = exchanges.map((each) => ({ ...each, exchange: Number(each.id), changedAtMs: 0 }))
    const missing = await index.missing(listed)
    const vectors = await embedder.embed(missing.map(embeddedText), "document")
    await index.put(missing.map(({ exchange }, i) => ({ exchange, sessionId: session.id, vector: vectors[i]! })))
  }
  const accept = async ({ root, platform, session, sinceMs, untilMs }: QueryFilter) => {
    const project = root === undefined ? undefined : await store.projects.byRoot(pathToFileURL(root).href)
    return (exchange: number) => {
      const of = sessionOf.get(exchange)
      if (!of || (project && of.projectId !== project.id) || (platform !== undefined && of.platform !== platform))
        return false
      if (session !== undefined && !of.nativeId.endsWith(`-${session}`)) return false
      return of.createdAtMs >= (sinceMs ?? 0) && of.createdAtMs < (untilMs ?? Number.POSITIVE_INFINITY)
    }
  }
  return {
    ...target,
    facts: async () => ({ ...(await target.facts()), vectors: await index.count() }),
    async search(wish) {
      const [vector] = await embedder.embed([wish.query], "query")
      const lexical = await target.search({ ...wish, limit: Math.max(CANDIDATES, wish.limit) })
      // What tools and one side alone said has no vector of its own.
      if (wish.filter?.role !== undefined) return lexical.slice(0, wish.limit)
      if (wish.unit === "turn") return byTurn(lexical, await index.scores(vector!, exchangesIn(lexical)), wish.limit)
      const near = await index.search(vector!, CANDIDATES, await accept(wish.filter ?? {}))
      const known = new Map(near.map((hit) => [hit.exchange, hit.score]))
      for (const [exchange, score] of await index.scores(vector!, exchangesIn(lexical))) known.set(exchange, score)
      const cosines = [...known].map(([exchange, score]) => ({ exchange, score }))
      return fuse(lexical, cosines)
        .slice(0, wish.limit)
        .map(({ exchange, score }) => ({ seq: exchange, exchange, score }))
    },
    async close() {
      await target.close()
      db.close()
    },
  }
}

/** A turn has the vector of its exchange: it changes the order of what the words found, and adds nothing. */
function byTurn(found: Found[], cosines: ReadonlyMap<number, number>, limit: number): Found[] {
  const top = Math.max(0, ...found.map(({ score }) => score)) || 1
  return found
    .map((hit) => ({ ...hit, score: hit.score / top + 0.3 * Math.max(0, cosines.get(hit.exchange) ?? 0) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
}

const exchangesIn = (found: Found[]) => [...new Set(found.map(({ exchange }) => exchange))]
