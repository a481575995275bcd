import type { Embedder } from "../../domain/embedder.ts"
import { Failure } from "../../domain/failure.ts"
import type { VectorHit, VectorTables } from "../../domain/vector-tables.ts"
import type { Clock } from "../../lib/clock.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import {
  type Embedding,
  type EmbeddingState,
  type ExchangeSource,
  type ListedExchange,
  startEmbedding,
} from "./embedding.ts"
import { openVectorIndex, type VectorIndex } from "./index.ts"
import { type EmbeddingPauses, makePauses } from "./pauses.ts"

export interface VectorsOptions {
  /** Called until it succeeds: the model may start after the daemon. */
  openEmbedder(signal: AbortSignal): Promise<Embedder>
  tables: VectorTables
  source: ExchangeSource
  clock: Clock
  signal: AbortSignal
  onTrouble?(failure: Failure): void
  pauses?: Partial<EmbeddingPauses>
}

/** Semantic search: an embedder, its vectors, and the loop that computes missing ones. */
export interface Vectors {
  /**
   * Nearest first, then the cosines of `also`, which makes sums with other scores exact. Undefined while no
   * embedder answers: search then uses keywords only. Never waits longer than `signal` allows.
   */
  search(
    text: string,
    limit: number,
    options?: { accept?(exchange: number): boolean; also?: readonly number[]; signal?: AbortSignal },
  ): Promise<VectorHit[] | undefined>
  changed(exchanges: readonly ListedExchange[]): void
  /** Works without an embedder too: forgetting does not wait for it. */
  remove(exchanges: readonly number[]): void
  /** The exchanges of each session that have a vector. */
  bySession(): Map<string, number[]>
  /** Leaves no byte of removed vectors. */
  purge(): void
  state(): Promise<EmbeddingState>
  stopped: Promise<void>
}

interface Ready {
  embedder: Embedder
  index: VectorIndex
  embedding: Embedding
}

export function startVectors(options: VectorsOptions): Vectors {
  const { tables, source, clock, signal } = options
  const pauses = makePauses(signal, options.pauses)
  let ready: Ready | undefined
  let trouble: Failure | undefined
  const report = (error: unknown) => {
    trouble = Failure.from(error)
    options.onTrouble?.(trouble)
    return trouble
  }

  const open = () =>
    superviseLoop({
      name: "embedder",
      signal,
      ...pauses.backoff,
      stallsAfterMs: Number.POSITIVE_INFINITY,
      onTrouble: (error) => options.onTrouble?.(Failure.from(error)),
      async round(_, alive) {
        try {
          const embedder = await options.openEmbedder(signal)
          const index = await openVectorIndex(embedder, tables, clock)
          trouble = undefined
          ready = { embedder, index, embedding: startEmbedding({ ...options, embedder, index }) }
        } catch (error) {
          trouble = Failure.from(error)
          throw trouble
        }
        alive()
        await ready.embedding.stopped
      },
    })

  return {
    async search(text, limit, { accept, also = [], signal } = {}) {
      if (!ready) return undefined
      const { embedder, index } = ready
      try {
        const [vector] = await embedder.embed([text], "query", signal)
        const hits = index.search(vector!, limit, accept)
        const listed = new Set(hits.map(({ exchange }) => exchange))
        const others = also.filter((exchange) => !listed.has(exchange))
        trouble = undefined
        return others.length > 0 ? [...hits, ...index.scores(vector!, others)] : hits
      } catch (error) {
        if (!signal?.aborted) report(error)
        return undefined
      }
    },
    // Before the first start, the walk finds everything anyway.
    changed: (exchanges) => ready?.embedding.changed(exchanges),
    remove: (exchanges) => (ready ? ready.embedding.remove(exchanges) : tables.remove(exchanges)),
    bySession: () => tables.bySession(),
    purge: () => tables.purge(),
    async state() {
      if (ready) {
        const state = await ready.embedding.state()
        return { ...state, trouble: state.trouble ?? trouble?.message ?? null }
      }
      return { embedder: null, done: 0, missing: await source.count(), trouble: trouble?.message ?? null }
    },
    stopped: open(),
  }
}
