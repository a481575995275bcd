import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setImmediate, setTimeout as sleep } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import type { IndexerData } from "../src/daemon/process/indexer.ts"
import { INDEXER_LIMITS } from "../src/daemon/process/start-indexer.ts"
import type { Store } from "../src/domain/store.ts"
import { openEngine } from "../src/search/index/engine.ts"
import { makeIndexer } from "../src/search/index/indexer.ts"
import { makeSearchThread } from "../src/search/index/thread.ts"
import type { SearchRequest } from "../src/search/query/request.ts"
import { makeScopes } from "../src/search/query/scope.ts"
import { filterOf } from "../src/search/query/search.ts"
import { parseQuery } from "../src/search/words/query.ts"
import { sqliteIndex } from "../src/store/dialects/index-sqlite.ts"
import { makeMessages } from "./corpus/messages.ts"
import type { Place } from "./search-fill.ts"
import type { QueryFilter, Role } from "./search-queries.ts"

/** The benches' only interface to search: changes of how it is called affect this file only. */
export interface Target {
  /** Resolves the filters in advance, so that this is not timed. */
  prepare(requests: readonly BenchRequest[]): Promise<void>
  search(request: BenchRequest): Promise<Found[]>
  facts(): Promise<TargetFacts>
  /** Wakes the index, as the daemon does after each commit; here another process writes. */
  wake(): void
  close(): Promise<void>
}

export interface BenchRequest {
  query: string
  limit: number
  unit: "turn" | "exchange"
  filter?: QueryFilter
}

/** The turn and exchange of a hit. */
export interface Found {
  seq: number
  exchange: number
  score: number
}

export interface TargetFacts {
  documents: number
  /** Everything in the store is indexed. */
  isComplete: boolean
  sizeBytes: number
  vectors: number
}

export interface TargetOptions {
  store: Store
  place: Place
  vectors?: boolean
}

/** The index in its own thread, as the daemon starts it. Resolves when everything in the store is indexed. */
export async function openTarget({ store, place, vectors = false }: TargetOptions): Promise<Target> {
  const archive = place.kind === "sqlite" ? { path: place.path } : { url: place.url }
  const folder = place.kind === "sqlite" ? dirname(place.path) : mkdtempSync(join(tmpdir(), "throughline-index-"))
  const beside = (name: string) => join(folder, name)
  const workerData: IndexerData = {
    archive,
    indexPath: beside("index.db"),
    vectorsPath: beside("vectors.db"),
    // Needs no model and is deterministic.
    embedder: vectors ? { kind: "hashed", dimension: 384 } : "none",
  }
  const thread = makeSearchThread({
    start: () =>
      new Worker(new URL("../src/daemon/process/indexer.ts", import.meta.url), {
        workerData,
        resourceLimits: INDEXER_LIMITS,
      }),
    onTrouble(error, what) {
      console.error(what, error)
    },
    onRebuild(reason) {
      console.error(`the index is rebuilt: ${reason}`)
    },
  })
  const scopes = makeScopeFinder(store)
  // The thread is unref'd, so keep the process alive.
  const alive = setInterval(() => {}, 60_000)
  thread.wake()
  const target: Target = {
    prepare: scopes.prepare,
    async search({ query, limit, unit, filter }) {
      const { hits } = await thread.search({ query, limit, unit, ...(await scopes.of(filter)) })
      return hits.map(({ seq, exchange, score }) => ({ seq, exchange, score }))
    },
    async facts() {
      const { documents, position, sizeBytes, isTidy, vectors: made } = await thread.facts()
      const hasVectors = !vectors || (made?.missing === 0 && made.done > 0)
      const isComplete = hasVectors && isTidy && position >= (await store.journal.last())
      return { documents, isComplete, sizeBytes, vectors: made?.done ?? 0 }
    },
    wake: () => thread.wake(),
    async close() {
      await thread.stop()
      clearInterval(alive)
      if (place.kind === "postgres") rmSync(folder, { recursive: true })
    },
  }
  while (!(await target.facts()).isComplete) await sleep(50)
  return target
}

const KINDS: Record<Role, NonNullable<SearchRequest["kinds"]>> = {
  user: ["prompt"],
  assistant: ["reply", "reasoning", "summary"],
  tool: ["tool_call", "tool_result"],
}

function makeScopeFinder(store: Store) {
  const known = new Map<string, Partial<SearchRequest>>()
  const of = async (filter: QueryFilter | undefined) => {
    if (!filter) return {}
    const key = JSON.stringify(filter)
    const scope = known.get(key) ?? (await toScope(store, filter))
    known.set(key, scope)
    return scope
  }
  return {
    of,
    async prepare(requests: readonly BenchRequest[]) {
      for (const { filter } of requests) await of(filter)
    },
  }
}

/** Resolves the names in a filter to ids. */
async function toScope(store: Store, filter: QueryFilter): Promise<Partial<SearchRequest>> {
  const { root, platform, session, role, sinceMs, untilMs } = filter
  const scope: Partial<SearchRequest> = {}
  if (root !== undefined) scope.projectId = (await store.projects.byRoot(pathToFileURL(root).href))!.id
  if (session !== undefined) {
    const plan = makeMessages({ sessions: 1 }).plan(session)
    scope.sessionId = (await store.sessions.byNative(plan.platform, plan.nativeId))!.id
  }
  if (platform !== undefined) scope.platform = platform
  if (role !== undefined) scope.kinds = KINDS[role]
  if (sinceMs !== undefined) scope.sinceMs = sinceMs
  if (untilMs !== undefined) scope.untilMs = untilMs
  return scope
}

/**
 * The engine alone, on its own index, in a thread that also indexes new turns: the best turns by BM25, without exchanges,
 * texts and snippets.
 */
export async function openEngineAlone({ store, place }: TargetOptions): Promise<Target> {
  if (place.kind !== "sqlite") throw new Error("the engine alone is measured on SQLite")
  const engine = openEngine(sqliteIndex({ path: join(dirname(place.path), "index.db") }))
  const scopes = makeScopes(store, { nowMs: Date.now })
  const indexer = makeIndexer({ store, engine, onTouched: scopes.touched, onChanged() {}, async onForgotten() {} })
  const named = makeScopeFinder(store)
  let following: Promise<void> | undefined
  const follow = async () => {
    while (await indexer.advance()) while (engine.work()) await setImmediate()
  }
  return {
    prepare: named.prepare,
    async search({ query, limit, filter }) {
      const { words, phrases, excluded } = parseQuery(query, Date.now())
      const hits = engine.search({
        words,
        all: phrases.map((phrase) => phrase.words),
        none: excluded.flatMap((one) => (one.words.length === 1 ? one.words : [])),
        filter: await filterOf({ scopes }, { query, limit, ...(await named.of(filter)) }),
        limit,
      })
      return hits.map(({ ref, exchange, score }) => ({ seq: Math.floor(ref / 2), exchange, score }))
    },
    async facts() {
      const { documents, position, sizeBytes } = engine.facts()
      return { documents, isComplete: position >= (await store.journal.last()), sizeBytes, vectors: 0 }
    },
    wake() {
      following ??= follow().finally(() => {
        following = undefined
      })
    },
    async close() {
      await following
      engine.close()
    },
  }
}
