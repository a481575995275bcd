import { type IndexTables, IndexUnusable } from "../../domain/index-tables.ts"
import type { Store } from "../../domain/store.ts"
import { makeBell } from "../../lib/bell.ts"
import { type Clock, nextTurn, pause } from "../../lib/clock.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import type { SearchRequest, SearchResult } from "../query/request.ts"
import { makeScopes } from "../query/scope.ts"
import { search } from "../query/search.ts"
import type { EmbeddingState, ExchangeSource } from "../vectors/embedding.ts"
import { exchangeSource } from "../vectors/source.ts"
import type { Vectors } from "../vectors/vectors.ts"
import { type Engine, openEngine } from "./engine.ts"
import { type Indexer, makeIndexer } from "./indexer.ts"
import { reconcile } from "./reconcile.ts"

/** Indexing and search, in the thread that owns the index. */
export interface SearchCore {
  search(request: SearchRequest): Promise<SearchResult>
  facts(): Promise<IndexFacts>
  /** Resolves when the journal is indexed up to here, and what was forgotten is purged. */
  reached(position: number): Promise<void>
  /** Empties the index and fills it again. Resolves when everything up to now can be found. */
  rebuild(): Promise<void>
  /** The share of time to spend on indexing; searches are not limited. */
  pace(share: number): void
  /** A hint that the journal has grown. */
  wake(): void
  /** Indexes until the signal. */
  run(signal: AbortSignal): Promise<void>
}

export interface IndexFacts {
  documents: number
  segments: number
  position: number
  sizeBytes: number
  /** Nothing is left to flush or merge. */
  isTidy: boolean
  /** The reason for a rebuild in progress. */
  rebuilding?: string
  vectors?: EmbeddingState
}

export interface CoreOptions {
  store: Store
  tables: IndexTables
  clock: Clock
  onTrouble(error: unknown, what: string): void
  onRebuild(reason: string): void
  /** Called when idle. */
  onRest?(facts: IndexFacts): void
  /** Search by meaning, where an embedder is configured. */
  startVectors?(source: ExchangeSource, signal: AbortSignal): Vectors
}

/** In case a wake-up is lost. */
const POLL_MS = 2_000
const RETRY_MS = 1_000
const MOST_RETRY_MS = 16_000
/** Debounce: do not compete with the writer on every line. */
const GATHER_MS = 100
/** After this much quiet, even a small memtable is flushed. */
const CALM_MS = 2_000
const TIDY_MS = 60
const MOST_PAUSE_MS = 4_000
const PUT_AWAY_MS = 500

export function makeSearchCore(options: CoreOptions): SearchCore {
  const { store, tables, clock, onTrouble, onRebuild, onRest } = options
  const scopes = makeScopes(store, clock)
  let vectors: Vectors | undefined
  let opened: { engine: Engine; indexer: Indexer } | undefined
  let opening: Promise<{ engine: Engine; indexer: Indexer }> | undefined
  let rebuilding: { reason: string; until: number } | undefined
  let waiting: { position: number; resolve(): void }[] = []
  const bell = makeBell()
  let tookAtMs = 0
  let paceShare = 1
  let hasWork = false

  /** An archive that was restored from a backup gives the same numbers to other entries. */
  const openCurrent = async () => {
    const engine = openEngine(tables)
    if (engine.facts().position <= (await store.journal.last())) return engine
    engine.close()
    throw new IndexUnusable("version", "the archive is older than the index")
  }
  const open = async () => {
    const engine = await openCurrent().catch(async (error: unknown) => {
      if (!(error instanceof IndexUnusable)) throw error
      tables.clear()
      await begin(error.message)
      return openEngine(tables)
    })
    const indexer = makeIndexer({
      store,
      engine,
      onTouched: scopes.touched,
      onChanged: (exchanges) => vectors?.changed(exchanges),
      onForgotten: () => reconcile(store, engine, vectors),
    })
    opened = { engine, indexer }
    return opened
  }
  const ready = () => {
    if (opened) return Promise.resolve(opened)
    opening ??= open().finally(() => {
      opening = undefined
    })
    return opening
  }
  const begin = async (reason: string) => {
    rebuilding = { reason, until: await store.journal.last() }
    onRebuild(reason)
  }
  /** Closes and clears an unusable index; the journal refills it. */
  const rebuild = async (reason: string, unusable = opened) => {
    // Another caller has already rebuilt it.
    if (unusable !== opened) return
    const old = opened
    opened = undefined
    // Callers wait for the cleared index: opened earlier, it would have two writers.
    opening = empty(old?.engine, reason)
      .then(open)
      .finally(() => {
        opening = undefined
      })
    await opening
  }
  const empty = async (engine: Engine | undefined, reason: string) => {
    engine?.close()
    tables.clear()
    await begin(reason)
  }
  const factsOf = async (engine: Engine): Promise<IndexFacts> => {
    const { documents, segments, position, sizeBytes } = engine.facts()
    return {
      documents,
      segments,
      position,
      sizeBytes,
      isTidy: !hasWork,
      ...(rebuilding ? { rebuilding: rebuilding.reason } : {}),
      ...(vectors ? { vectors: await vectors.state() } : {}),
    }
  }
  const settle = (position: number) => {
    if (rebuilding && position >= rebuilding.until) rebuilding = undefined
    const due = waiting.filter((each) => each.position <= position)
    waiting = waiting.filter((each) => each.position > position)
    for (const each of due) each.resolve()
  }
  const step = async (): Promise<boolean> => {
    const { engine, indexer } = await ready()
    const more = await indexer.advance()
    settle(indexer.position())
    if (more) tookAtMs = performance.now()
    const isCalm = !more && performance.now() - tookAtMs > CALM_MS
    // Merging gets as much time as indexing: many small segments slow down every search.
    const untilMs = performance.now() + TIDY_MS
    do {
      hasWork = engine.work({ idle: isCalm })
      await nextTurn()
    } while (hasWork && performance.now() < untilMs)
    return hasWork || more
  }

  const reached = async (position: number) => {
    const { indexer } = await ready()
    if (indexer.position() >= position) return
    const passed = new Promise<void>((resolve) => waiting.push({ position, resolve }))
    bell.ring()
    await passed
  }

  const restAfter = (workedMs: number, signal: AbortSignal) => {
    const restMs = waiting.length > 0 ? 0 : Math.min(MOST_PAUSE_MS, workedMs * (1 / paceShare - 1))
    return restMs < 1 ? nextTurn() : pause(restMs, signal)
  }

  return {
    pace(share) {
      paceShare = share
    },
    wake: bell.ring,
    async search(request) {
      const used = opened
      try {
        const { engine, indexer } = await ready()
        const found = await search({ store, engine, scopes, clock, vectors }, request)
        const behind = (await store.journal.last()) - indexer.position()
        const isComplete = rebuilding === undefined && behind <= NEARLY_ALL
        return {
          ...found,
          isComplete,
          notes: isComplete ? found.notes : [...found.notes, incomplete(rebuilding?.reason)],
        }
      } catch (error) {
        if (!(error instanceof IndexUnusable)) throw error
        await rebuild(error.message, used)
        return { hits: [], isComplete: false, notes: [incomplete(error.message)] }
      }
    },
    facts: async () => factsOf((await ready()).engine),
    async rebuild() {
      await opening?.catch(() => {})
      await rebuild("requested")
      await reached(await store.journal.last())
    },
    reached,
    async run(signal) {
      signal.addEventListener("abort", bell.ring, { once: true })
      vectors = options.startVectors?.(
        exchangeSource(store, async () => (await ready()).engine),
        signal,
      )
      await superviseLoop({
        name: "search index",
        signal,
        onTrouble: (error) => onTrouble(error, "indexing failed; the same entries are tried again"),
        firstRetryMs: RETRY_MS,
        mostRetryMs: MOST_RETRY_MS,
        async round(_, alive) {
          const used = opened
          try {
            const startedMs = performance.now()
            const more = await step()
            alive()
            if (more) await restAfter(performance.now() - startedMs, signal)
            else {
              if (opened) onRest?.(await factsOf(opened.engine))
              await bell.wait(POLL_MS)
              if (waiting.length === 0) await pause(GATHER_MS, signal)
            }
          } catch (error) {
            if (!(error instanceof IndexUnusable)) throw error
            await rebuild(error.message, used)
          }
        },
      })
      await vectors?.stopped
      if (opened) putAway(opened.engine)
    },
  }
}

/** Saves the next start some work, but must not delay the shutdown. */
function putAway(engine: Engine): void {
  const untilMs = performance.now() + PUT_AWAY_MS
  try {
    while (engine.work({ idle: true }) && performance.now() < untilMs);
  } finally {
    engine.close()
  }
}

/** Live sessions are always a few entries ahead of the index; not worth a note. */
const NEARLY_ALL = 200

const incomplete = (reason: string | undefined) =>
  reason === undefined
    ? "The index is still behind the archive; something may be missing."
    : `The index is being rebuilt (${reason}); something may be missing.`
