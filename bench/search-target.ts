import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import type { IndexerData } from "../src/daemon/indexer.ts"
import type { Store } from "../src/domain/store.ts"
import type { SearchWish } from "../src/recall/search/wish.ts"
import { makeRecallThread } from "../src/recall/thread.ts"
import { makeMessages } from "./corpus/messages.ts"
import type { Place } from "./search-fill.ts"
import type { QueryFilter, Role } from "./search-queries.ts"

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

/** The thread that the daemon starts, with what the daemon gives it; `npm run build` first. */
export async function openTarget({ store, place, vectors }: TargetWish): Promise<Target> {
  const folder = place.kind === "sqlite" ? join(place.path, "..") : "."
  const data: IndexerData = {
    archive: place.kind === "sqlite" ? { path: place.path } : { url: place.url },
    indexPath: join(folder, "index.db"),
    vectorsPath: join(folder, "vectors.db"),
    embedder: vectors ? { kind: "hashed", dimension: 384 } : "none",
  }
  const thread = makeRecallThread({
    start: () =>
      new Worker(new URL("../dist/daemon/indexer.js", import.meta.url), {
        workerData: data,
        resourceLimits: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 16 },
      }),
    onTrouble: (error, what) => process.stderr.write(`${what}: ${error}\n`),
    onRebuild: (reason) => process.stderr.write(`built anew: ${reason}\n`),
  })
  // What the daemon hears from its own store, a bench whose writer is another process has to look for.
  const waking = setInterval(() => thread.wake(), 100)
  return {
    async search({ query, limit, unit, filter }) {
      const { hits } = await thread.search({ query, limit, unit, ...(filter ? await filterFor(store, filter) : {}) })
      return hits.map(({ seq, exchange, score }) => ({ seq, exchange, score }))
    },
    async facts() {
      const { documents, position, sizeBytes, vectors } = await thread.facts()
      const isComplete = position >= (await store.journal.last()) && (vectors?.missing ?? 0) === 0
      return { documents, isComplete, sizeBytes, vectors: vectors?.done ?? 0 }
    },
    async close() {
      clearInterval(waking)
      await thread.stop()
    },
  }
}

const KINDS: Record<Role, NonNullable<SearchWish["kinds"]>> = {
  user: ["prompt"],
  assistant: ["reply", "reasoning", "summary"],
  tool: ["tool_call", "tool_result"],
}

async function filterFor(store: Store, filter: QueryFilter): Promise<Partial<SearchWish>> {
  const { root, platform, session, role, sinceMs, untilMs } = filter
  const plan = session === undefined ? undefined : makeMessages({ sessions: 1 }).plan(session)
  const found = plan && (await store.sessions.byNative(plan.platform, plan.nativeId))
  const project = root === undefined ? undefined : await store.projects.byRoot(pathToFileURL(root).href)
  return {
    ...(found ? { sessionId: found.id } : {}),
    ...(project ? { projectId: project.id } : {}),
    ...(platform ? { platform } : {}),
    ...(role ? { kinds: KINDS[role] } : {}),
    ...(sinceMs === undefined ? {} : { sinceMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
  }
}
