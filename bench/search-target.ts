import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { IndexTables } from "../src/domain/index-tables.ts"
import type { Store } from "../src/domain/store.ts"
import type { Turn } from "../src/domain/turn.ts"
import { type Engine, type EngineFilter, type NewDoc, openEngine } from "../src/recall/index/engine.ts"
import { weigh } from "../src/recall/words/document.ts"
import { sqliteIndex } from "../src/store/index-sqlite.ts"
import { makeMessages } from "./corpus/messages.ts"
import type { Place } from "./search-fill.ts"
import { type QueryFilter, type Role, wordsOf } from "./search-queries.ts"

/** What is measured, and all that the benches know of it: whoever changes how search is called changes this file only. */
export interface Target {
  search(wish: Wish): Promise<Found[]>
  facts(): Promise<TargetFacts>
  close(): Promise<void>
}

export interface Wish {
  query: string
  limit: number
  unit: "turn" | "exchange"
  filter?: QueryFilter
}

/** Of a hit: which turn, in which exchange. */
export interface Found {
  seq: number
  exchange: number
  score: number
}

export interface TargetFacts {
  documents: number
  /** Everything that is in the store can be found. */
  isComplete: boolean
  sizeBytes: number
  vectors: number
}

export interface TargetWish {
  store: Store
  place: Place
  vectors: boolean
}

/** Until everything that is in the store can be found. */
export async function untilComplete(target: Target): Promise<TargetFacts> {
  for (;;) {
    const facts = await target.facts()
    if (facts.isComplete) return facts
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The engine and the words alone: no folding, no ranking beyond BM25, in the thread of the bench. */
export async function openTarget({ store, place }: TargetWish): Promise<Target> {
  const tables = tablesOf(place)
  const engine = await openEngine(tables)
  const ending = new AbortController()
  const following = follow(store, engine, tables, ending.signal)
  return {
    async search({ query, limit, unit, filter }) {
      const asked = { ...parse(query), limit: unit === "turn" ? limit : limit * 8 }
      const hits = await engine.search({ ...asked, ...(filter ? { filter: await filterFor(store, filter) } : {}) })
      const found = hits.map(({ ref, exchange, score }) => ({ seq: Math.floor(ref / 2), exchange, score }))
      return unit === "turn" ? found : bestOfEach(found).slice(0, limit)
    },
    async facts() {
      const { documents, position, sizeBytes } = engine.facts()
      return { documents, isComplete: position >= (await store.journal.last()), sizeBytes, vectors: 0 }
    },
    async close() {
      ending.abort()
      await following
      await engine.close()
    },
  }
}

function tablesOf(place: Place): IndexTables {
  if (place.kind === "postgres") throw new Error("the index has no tables on PostgreSQL yet")
  return sqliteIndex({ path: join(place.path, "../index.db") })
}

/** Reads the journal to its end again and again, and gives the loop back after each piece. */
async function follow(store: Store, engine: Engine, tables: IndexTables, signal: AbortSignal): Promise<void> {
  const exchanges = new Map<string, number>()
  let isWritten = false
  while (!signal.aborted) {
    const entries = await store.journal.after(engine.facts().position, 10)
    for (const entry of entries) {
      const seqs = entry.kind === "turns.kept" ? (entry.data.seqs as number[]) : []
      const turns = (await store.turns.bySeqs(seqs)).toSorted((a, b) => a.seq - b.seq)
      for (let at = 0; at < Math.max(1, turns.length); at += 20) {
        await engine.add(
          turns.slice(at, at + 20).map((turn) => toDoc(turn, exchanges)),
          entry.seq,
        )
        await new Promise(setImmediate)
      }
    }
    const hasMore = await engine.work({ idle: entries.length === 0 })
    if (entries.length > 0 || hasMore) isWritten = true
    else if (isWritten) {
      isWritten = false
      await tables.checkpoint()
    }
    await new Promise((resolve) => (entries.length > 0 || hasMore ? setImmediate(resolve) : setTimeout(resolve, 50)))
  }
}

function toDoc({ seq, sessionId, kind, atMs, text }: Turn, exchanges: Map<string, number>): NewDoc {
  if (kind === "prompt" || !exchanges.has(sessionId)) exchanges.set(sessionId, seq)
  return { ref: seq * 2, sessionId, kind, atMs, exchange: exchanges.get(sessionId)!, ...weigh(kind, text) }
}

function parse(query: string) {
  const isPrefix = query.endsWith("*")
  const words = [...new Set(isPrefix ? [query.slice(0, -1).toLowerCase()] : wordsOf(query))]
  return {
    words: words.map((word) => ({ word, weight: 1, isPrefix })),
    ...(query.startsWith('"') ? { all: [words] } : {}),
  }
}

const KINDS: Record<Role, ReadonlySet<NewDoc["kind"]>> = {
  user: new Set(["prompt"]),
  assistant: new Set(["reply", "reasoning", "summary"]),
  tool: new Set(["tool_call", "tool_result"]),
}

async function filterFor(store: Store, filter: QueryFilter): Promise<EngineFilter> {
  const { root, platform, session, role, sinceMs, untilMs } = filter
  const sessionIds = new Set<string>()
  if (session !== undefined) {
    const plan = makeMessages({ sessions: 1 }).plan(session)
    sessionIds.add((await store.sessions.byNative(plan.platform, plan.nativeId))!.id)
  } else if (root !== undefined || platform !== undefined) {
    const project = root === undefined ? undefined : await store.projects.byRoot(pathToFileURL(root).href)
    const of = { ...(project ? { projectId: project.id } : {}), ...(platform ? { platform } : {}) }
    for (const { id } of await store.sessions.list({ ...of, limit: 100_000 })) sessionIds.add(id)
  }
  return {
    ...(sessionIds.size > 0 ? { sessionIds } : {}),
    ...(role ? { kinds: KINDS[role] } : {}),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
  }
}

function bestOfEach(found: Found[]): Found[] {
  const seen = new Set<number>()
  return found.filter(({ exchange }) => !seen.has(exchange) && seen.add(exchange))
}
