import { setTimeout as sleep } from "node:timers/promises"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { type EmbeddingsApi, INDIGESTIBLE, startEmbeddingsApi } from "../../../test/fixtures/embeddings-api.ts"
import { openEmbedder } from "../../adapters/embedders/list.ts"
import { openaiCompatible } from "../../adapters/embedders/openai-compatible.ts"
import type { Embedder } from "../../domain/embedder.ts"
import type { Failure } from "../../domain/failure.ts"
import { systemClock } from "../../lib/clock.ts"
import { vectorsSqlite } from "../../store/dialects/vectors-sqlite.ts"
import type { ExchangeSource, ListedExchange } from "./embedding.ts"
import { startVectors, type Vectors, type VectorsOptions } from "./vectors.ts"

const PAUSES = { settleMs: 0, restMs: 60_000, firstTroubleMs: 20, longestTroubleMs: 100 }

/** Exchanges with their texts, as the archive would have them. */
class Exchanges implements ExchangeSource {
  readonly texts = new Map<number, string>()
  readonly asked: number[] = []
  changedAtMs = 1_000

  listed(exchange: number): ListedExchange {
    return { exchange, sessionId: "s", changedAtMs: this.changedAtMs }
  }
  async below(exchange: number, limit: number) {
    const below = [...this.texts.keys()].filter((number) => number < exchange).sort((a, b) => b - a)
    return below.slice(0, limit).map((number) => this.listed(number))
  }
  async count() {
    return this.texts.size
  }
  async textOf({ exchange }: ListedExchange) {
    this.asked.push(exchange)
    return this.texts.get(exchange)
  }
  fill(count: number) {
    for (let at = 0; at < count; at++) this.texts.set(at, `exchange ${at} is about topic${at}`)
    return this
  }
}

let api: EmbeddingsApi
let db: Database.Database
let source: Exchanges
let stop: AbortController
let troubles: Failure[]
const started: Vectors[] = []
beforeEach(async () => {
  api = await startEmbeddingsApi()
  db = new Database(":memory:")
  source = new Exchanges()
  stop = new AbortController()
  troubles = []
})
afterEach(async () => {
  stop.abort()
  await Promise.all(started.splice(0).map(({ stopped }) => stopped))
  await api.close()
  db.close()
})

const hashed = () => openEmbedder({ kind: "hashed", dimension: 384 })
const served = (model = "small") =>
  openaiCompatible.open(openaiCompatible.settings.parse({ kind: "openai-compatible", model, baseUrl: `${api.url}/v1` }))

function start(open: () => Promise<Embedder>, more: Partial<VectorsOptions> = {}): Vectors {
  const vectors = startVectors({
    openEmbedder: open,
    tables: vectorsSqlite(db),
    source,
    clock: systemClock,
    signal: stop.signal,
    onTrouble: (failure) => troubles.push(failure),
    pauses: PAUSES,
    ...more,
  })
  started.push(vectors)
  return vectors
}
const untilDone = (vectors: Vectors, count: number) =>
  vi.waitFor(
    async () => expect(await vectors.state()).toMatchObject({ done: count, missing: 0, trouble: null }),
    10_000,
  )

describe("making vectors in the background", () => {
  test("all exchanges get one, the newest first, and are then found by meaning", async () => {
    const vectors = start(hashed)
    source.fill(1_300)
    await untilDone(vectors, 1_300)
    expect(source.asked).toEqual(Array.from({ length: 1_300 }, (_, at) => 1_299 - at))
    expect((await vectors.search("topic777", 3))?.[0]?.exchange).toBe(777)
    expect(await vectors.state()).toEqual({ embedder: "hashed:1:384", done: 1_300, missing: 0, trouble: null })
  })

  test("after a restart only what is missing is made", async () => {
    await untilDone(start(hashed, { source: source.fill(100) }), 100)
    stop.abort()
    await Promise.all(started.splice(0).map(({ stopped }) => stopped))
    stop = new AbortController()
    source.fill(130).asked.length = 0
    await untilDone(start(hashed), 130)
    expect(source.asked.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => 100 + at))
  })

  test("a new exchange gets its vector when it is told of, one that grew gets another", async () => {
    const vectors = start(hashed, { source: source.fill(10) })
    await untilDone(vectors, 10)
    source.texts.set(10, "how the lock file works")
    source.texts.set(3, "now it is about zebras")
    vectors.changed([source.listed(10), source.listed(3)])
    await vi.waitFor(async () => expect((await vectors.search("zebras", 1))?.[0]?.exchange).toBe(3))
    expect((await vectors.search("lock file", 1))?.[0]?.exchange).toBe(10)
    expect(await vectors.state()).toMatchObject({ done: 11, missing: 0 })
  })

  test("an exchange that keeps growing waits until it is left alone", async () => {
    const vectors = start(hashed, { source: source.fill(3), pauses: { ...PAUSES, settleMs: 300 } })
    await untilDone(vectors, 3)
    source.asked.length = 0
    for (let turn = 0; turn < 8; turn++) {
      source.texts.set(7, `turn ${turn}`)
      vectors.changed([{ ...source.listed(7), changedAtMs: Date.now() }])
      await sleep(50)
    }
    expect(source.asked).toEqual([])
    await untilDone(vectors, 4)
    await sleep(400)
    expect(source.asked).toEqual([7])
  })

  test("what changed while nobody listened is found by its time, and a clock that is ahead does not make it again and again", async () => {
    const vectors = start(hashed, { source: source.fill(4), pauses: { ...PAUSES, restMs: 50 } })
    await untilDone(vectors, 4)
    source.asked.length = 0
    await sleep(200)
    expect(source.asked).toEqual([])
    source.changedAtMs = Date.now()
    await vi.waitFor(() => expect(source.asked).toHaveLength(4))
    source.changedAtMs = Date.now() + 3_600_000
    await sleep(200)
    expect(source.asked).toHaveLength(4)
  })

  test("an exchange without words, and one that is gone, hold nothing up", async () => {
    source.fill(20).texts.set(5, "")
    const textOf = source.textOf.bind(source)
    source.textOf = async (item) => (item.exchange === 6 ? undefined : textOf(item))
    const vectors = start(() => served())
    await vi.waitFor(async () => expect(await vectors.state()).toMatchObject({ done: 19, missing: 1, trouble: null }))
  })

  test("a text that the model refuses gets no place, and all others get theirs", async () => {
    source.fill(200).texts.set(77, `a model's own mark: ${INDIGESTIBLE}`)
    const vectors = start(() => served())
    await untilDone(vectors, 200)
    const found = await vectors.search("exchange 78 is about topic78", 200)
    expect(found).toHaveLength(199)
    expect(found!.some(({ exchange }) => exchange === 77)).toBe(false)
    expect(troubles).toEqual([])
  })
})

describe("trouble with the embedder", () => {
  test("it is opened when it comes up, and searches go on without it until then", async () => {
    const { url } = api
    await api.close()
    let isUp = false
    const vectors = start(() => (isUp ? hashed() : served()), { source: source.fill(5) })
    expect(await vectors.search("topic3", 5)).toBeUndefined()
    await vi.waitFor(async () =>
      expect(await vectors.state()).toEqual({
        embedder: null,
        done: 0,
        missing: 5,
        trouble: `${url}/v1/embeddings refuses connections: nothing listens there`,
      }),
    )
    isUp = true
    await untilDone(vectors, 5)
    api = await startEmbeddingsApi()
  })

  test("while it fails the state says why, the pauses grow, and it goes on by itself", async () => {
    source.fill(300)
    const embedder = await served()
    api.next(...Array.from({ length: 3 }, () => ({ status: 401, body: "no credit left" })))
    const vectors = start(async () => embedder)
    await vi.waitFor(() => expect(troubles).not.toEqual([]))
    await untilDone(vectors, 300)
    expect(api.requests.length).toBeLessThan(20)
  })

  test("a key that is refused for good costs few requests, and is shown", async () => {
    source.fill(300)
    const embedder = await served()
    api.next(...Array.from({ length: 500 }, () => ({ status: 401, body: "no" })))
    const vectors = start(async () => embedder, {
      pauses: { ...PAUSES, firstTroubleMs: 60_000, longestTroubleMs: 60_000 },
    })
    await vi.waitFor(async () => expect((await vectors.state()).trouble).toMatch(/answers 401: no\. Check the key/))
    await sleep(200)
    expect([troubles.length, api.requests.length]).toEqual([1, 2])
  })

  test("a server that asks for time gets it", async () => {
    source.fill(3)
    const embedder = await served()
    api.next({ status: 429, headers: { "retry-after": "30" } })
    const vectors = start(async () => embedder)
    await vi.waitFor(async () => expect((await vectors.state()).trouble).toMatch(/answers 429/))
    await sleep(300)
    expect([(await vectors.state()).missing, troubles.length]).toEqual([3, 1])
  })

  test("a search whose query cannot be embedded is answered without vectors, in the caller's time", async () => {
    const vectors = start(() => served(), { source: source.fill(3) })
    await untilDone(vectors, 3)
    api.next({ delayMs: 5_000 })
    const startMs = performance.now()
    expect(await vectors.search("topic1", 5, { signal: AbortSignal.timeout(100) })).toBeUndefined()
    expect(performance.now() - startMs).toBeLessThan(20_000)
    expect((await vectors.state()).trouble).toBeNull()
    expect(await vectors.search("topic1", 5)).toHaveLength(3)
  })
})

describe("what is removed", () => {
  test("does not come back with a batch that was under way", async () => {
    source.fill(10)
    const embedder = await served()
    api.next({ delayMs: 300 })
    const vectors = start(async () => embedder)
    await vi.waitFor(() => expect(api.requests).toHaveLength(2))
    source.texts.delete(4)
    await vectors.remove([4])
    await untilDone(vectors, 9)
    expect(db.prepare("select exchange from vectors where exchange = 4").all()).toEqual([])
  })

  test("is gone from the tables also while no embedder can be reached", async () => {
    await untilDone(start(hashed, { source: source.fill(5) }), 5)
    stop.abort()
    await Promise.all(started.splice(0).map(({ stopped }) => stopped))
    stop = new AbortController()
    const vectors = start(() => Promise.reject(new Error("out of reach")))
    await vectors.remove([2])
    expect(db.prepare("select count(*) from vectors").pluck().get()).toBe(4)
  })
})

test("another model recomputes all vectors, serves none of the old ones, and leaves none behind", async () => {
  await untilDone(start(hashed, { source: source.fill(2_000) }), 2_000)
  stop.abort()
  await Promise.all(started.splice(0).map(({ stopped }) => stopped))
  stop = new AbortController()
  source.texts.delete(1_999)
  const vectors = start(() => served("large"))
  await vi.waitFor(async () => expect((await vectors.state()).done).toBeGreaterThan(0))
  await untilDone(vectors, 1_999)
  await vi.waitFor(() =>
    expect(db.prepare("select distinct embedder from vectors").pluck().all()).toEqual(["openai:large:32/1"]),
  )
})

test("the cosines of those found by words come with the nearest, once each", async () => {
  const vectors = start(hashed, { source: source.fill(50) })
  await untilDone(vectors, 50)
  const found = await vectors.search("topic7", 5, { also: [30, 7, 99], accept: (exchange) => exchange < 20 })
  const exchanges = found!.map(({ exchange }) => exchange)
  expect([exchanges.length, new Set(exchanges).size, exchanges[0], exchanges.at(-1)]).toEqual([6, 6, 7, 30])
})

test("the signal ends it in the middle of a request", async () => {
  source.fill(10)
  const embedder = await served()
  api.next({ delayMs: 10_000 })
  const vectors = start(async () => embedder)
  await vi.waitFor(() => expect(api.requests).toHaveLength(2))
  const startMs = performance.now()
  stop.abort()
  await vectors.stopped
  expect(performance.now() - startMs).toBeLessThan(20_000)
  expect(troubles).toEqual([])
})
