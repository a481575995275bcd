import type { Embedder } from "../../domain/embedder.ts"
import { Failure } from "../../domain/failure.ts"
import { type Clock, nextTurn } from "../../lib/clock.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { HOUR_MS } from "../../lib/time.ts"
import type { VectorIndex } from "./index.ts"
import { type EmbeddingPauses, makePauses } from "./pauses.ts"

/** The exchanges to embed. */
export interface ExchangeSource {
  /** Those below this number, highest first. */
  below(exchange: number, limit: number): Promise<ListedExchange[]>
  count(): Promise<number>
  /** Prompt and replies, without tool output; undefined if the exchange is gone. */
  textOf(exchange: ListedExchange): Promise<string | undefined>
}

export interface ListedExchange {
  exchange: number
  sessionId: string
  /** The time of its last turn. */
  changedAtMs: number
}

export interface EmbeddingState {
  /** Null until it is reached for the first time. */
  embedder: string | null
  done: number
  missing: number
  /** Why nothing can be embedded at the moment. */
  trouble: string | null
}

export interface EmbeddingOptions {
  embedder: Embedder
  index: VectorIndex
  source: ExchangeSource
  clock: Clock
  signal: AbortSignal
  pauses?: Partial<EmbeddingPauses>
  onTrouble?(failure: Failure): void
}

export interface Embedding {
  /** New ones, and those that grew. Debounced until they have settled. */
  changed(exchanges: readonly ListedExchange[]): void
  /** Also those that are being embedded. */
  remove(exchanges: readonly number[]): void
  state(): Promise<EmbeddingState>
  /** Resolves after the signal, when the last batch is stored or dropped. */
  stopped: Promise<void>
}

/** Longer than its poll interval. */
const STALLS_AFTER_MS = HOUR_MS
const LIST_AT_ONCE = 500
const EMBED_AT_ONCE = 64
/** Texts read before searches get a turn. */
const TEXTS_PER_TURN = 8

/** Embeds missing exchanges, newest first, then new ones. Failures back off and never end it. */
export function startEmbedding(options: EmbeddingOptions): Embedding {
  const { embedder, index, source, clock, signal } = options
  const pauses = makePauses(signal, options.pauses)
  const changed = new Map<number, ListedExchange & { sinceMs: number }>()
  const underWay = new Set<number>()
  let trouble: Failure | undefined
  /** All from here up have been checked; undefined when the walk is done. */
  let walkedTo: number | undefined = Number.MAX_SAFE_INTEGER
  let foreignLeft = true
  let atOnce = EMBED_AT_ONCE

  const run = () =>
    superviseLoop({
      name: "embeddings",
      signal,
      ...pauses.backoff,
      stallsAfterMs: STALLS_AFTER_MS,
      onTrouble: (error) => options.onTrouble?.(Failure.from(error)),
      async round(_, alive) {
        try {
          const more = await step()
          trouble = undefined
          alive()
          if (more) await pauses.breathe()
          // Poll: walking again finds what was not reported.
          else if (!(await pauses.rest(changed.size > 0))) walkedTo = Number.MAX_SAFE_INTEGER
        } catch (error) {
          trouble = Failure.from(error)
          throw trouble
        }
      },
    })

  /** One batch or page; false when there is nothing to do now. */
  const step = async (): Promise<boolean> => {
    const settled = takeSettled()
    if (settled.length > 0) {
      await make(settled).catch((error) => {
        for (const item of settled) if (!changed.has(item.exchange)) tell(item, 0)
        throw error
      })
      return true
    }
    if (walkedTo === undefined) {
      foreignLeft &&= index.removeForeign()
      return foreignLeft
    }
    const page = await source.below(walkedTo, LIST_AT_ONCE)
    const missing = index.missing(page.map(withoutFuture).filter((item) => !isFresh(item)))
    for (const batch of batches(missing, () => atOnce)) {
      await make(batch)
      walkedTo = batch.at(-1)!.exchange
      await pauses.breathe()
      if (signal.aborted) return false
    }
    walkedTo = page.at(-1)?.exchange
    return true
  }

  /** Debounce: a growing exchange would be embedded with every turn. */
  const takeSettled = (): ListedExchange[] => {
    const now = clock.nowMs()
    const settled: ListedExchange[] = []
    for (const item of changed.values()) {
      if (settled.length === atOnce || item.sinceMs + pauses.settleMs > now) break
      settled.push(item)
      changed.delete(item.exchange)
    }
    return settled
  }

  /** Re-inserted, so that the map is ordered by time. */
  const tell = (item: ListedExchange, sinceMs: number) => {
    changed.delete(item.exchange)
    changed.set(item.exchange, { ...item, sinceMs })
  }

  const isFresh = (item: ListedExchange) => {
    if (changed.has(item.exchange)) return true
    if (item.changedAtMs + pauses.settleMs <= clock.nowMs()) return false
    tell(item, item.changedAtMs)
    return true
  }

  /** An agent's clock may be ahead, which would outdate the vector at once. */
  const withoutFuture = (item: ListedExchange) =>
    item.changedAtMs > clock.nowMs() ? { ...item, changedAtMs: 0 } : item

  const make = async (items: ListedExchange[]) => {
    for (const { exchange } of items) underWay.add(exchange)
    try {
      const texts: (string | undefined)[] = []
      for (const item of items) {
        texts.push(await source.textOf(item))
        if (texts.length % TEXTS_PER_TURN === 0) await nextTurn()
      }
      const there = items.flatMap((item, at) => (texts[at] === undefined ? [] : [{ ...item, text: texts[at] }]))
      const vectors = await embedded(there.map(({ text }) => text))
      const made = there.map((item, at) => ({ ...item, vector: vectors[at]! }))
      // Not those removed meanwhile.
      index.put(made.filter(({ exchange }) => underWay.has(exchange)))
      atOnce = Math.min(EMBED_AT_ONCE, atOnce * 2)
    } finally {
      for (const { exchange } of items) underWay.delete(exchange)
    }
  }

  /** A text that the model rejects while it accepts others gets the zero vector, so that it does not block the rest. */
  const embedded = async (texts: string[]): Promise<Float32Array[]> => {
    try {
      return await embedder.embed(texts, "document", signal)
    } catch (error) {
      if (!(error instanceof Failure) || !error.data.isAboutText) throw error
      if (texts.length > 1) {
        const half = Math.ceil(texts.length / 2)
        atOnce = Math.min(atOnce, half)
        return [...(await embedded(texts.slice(0, half))), ...(await embedded(texts.slice(half)))]
      }
      await embedder.embed(["a text like any other"], "document", signal)
      return [new Float32Array(embedder.dimension)]
    }
  }

  return {
    changed(items) {
      for (const item of items) tell(item, clock.nowMs())
      pauses.wake()
    },
    remove(exchanges) {
      for (const exchange of exchanges) {
        underWay.delete(exchange)
        changed.delete(exchange)
      }
      index.remove(exchanges)
    },
    async state() {
      const all = await source.count()
      const done = index.count()
      return { embedder: embedder.id, done, missing: Math.max(0, all - done), trouble: trouble?.message ?? null }
    },
    stopped: run(),
  }
}

function* batches<T>(items: readonly T[], size: () => number): Generator<T[]> {
  for (let at = 0; at < items.length; ) {
    const batch = items.slice(at, at + size())
    at += batch.length
    yield batch
  }
}
