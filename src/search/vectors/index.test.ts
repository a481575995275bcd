import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { VectorTables } from "../../domain/vector-tables.ts"
import { vectorsSqlite } from "../../store/dialects/vectors-sqlite.ts"
import { openVectorIndex } from "./index.ts"

const embedder = { id: "test:m:48", dimension: 48 }
const clock = { nowMs: () => 5_000 }
let db: Database.Database
let tables: VectorTables
beforeEach(() => {
  db = new Database(":memory:")
  tables = vectorsSqlite(db)
})
afterEach(() => db.close())
const open = (which = embedder) => openVectorIndex(which, tables, clock)

/** Neighbouring numbers are near to each other. */
const vectorOf = (number: number, dimension = 48) => {
  const vector = Float32Array.from({ length: dimension }, (_, at) =>
    Math.sin(number / 40 + at * (1 + (number % 3) / 100)),
  )
  const norm = Math.hypot(...vector)
  return vector.map((value) => value / norm)
}
const items = (count: number, dimension = 48) =>
  Array.from({ length: count }, (_, exchange) => ({ exchange, sessionId: "s", vector: vectorOf(exchange, dimension) }))
const exactly = (query: Float32Array, count: number, limit: number, accept = (_: number) => true) =>
  Array.from({ length: count }, (_, exchange) => ({
    exchange,
    score: vectorOf(exchange).reduce((sum, value, at) => sum + value * query[at]!, 0),
  }))
    .filter(({ exchange }) => accept(exchange))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)

describe("a vector index", () => {
  test("finds the nearest with their cosines, and the same after it was opened again", async () => {
    const index = await open()
    index.put(items(5_000))
    const query = vectorOf(2_345)
    const found = index.search(query, 10)
    expect(found[0]!.score).toBeCloseTo(1, 2)
    const right = exactly(query, 5_000, 10)
    expect(found.at(-1)!.score).toBeGreaterThan(right.at(-1)!.score - 0.01)
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).sort((a, b) => b - a))
    const again = await open()
    expect(again.search(query, 10)).toEqual(found)
    expect(again.count()).toBe(5_000)
  })

  test("a filter leaves as many results as there are", async () => {
    const index = await open()
    index.put(items(5_000))
    const accept = (exchange: number) => exchange % 250 === 0
    const found = index.search(vectorOf(10), 20, accept)
    expect(found).toHaveLength(20)
    expect(new Set(found.map(({ exchange }) => exchange))).toEqual(new Set(items(20).map((_, at) => at * 250)))
  })

  test("scores are the cosines of just these, without those that have none", async () => {
    const index = await open()
    index.put(items(10))
    const scores = index.scores(vectorOf(3), [3, 4, 77])
    expect(scores.map(({ exchange }) => exchange).sort()).toEqual([3, 4])
    expect(scores.find(({ exchange }) => exchange === 3)!.score).toBeCloseTo(1, 3)
  })

  test("an empty text's vector counts as made, and is found by nothing", async () => {
    const index = await open()
    index.put([...items(3), { exchange: 9, sessionId: "s", vector: new Float32Array(48) }])
    expect(
      index
        .search(vectorOf(1), 10)
        .map(({ exchange }) => exchange)
        .sort(),
    ).toEqual([0, 1, 2])
    expect(index.missing([{ exchange: 9, changedAtMs: 1 }])).toEqual([])
    expect([index.count(), await (await open()).count()]).toEqual([4, 4])
    index.put([{ exchange: 9, sessionId: "s", vector: vectorOf(9) }])
    expect([index.count(), index.search(vectorOf(9), 1)[0]!.exchange]).toEqual([4, 9])
  })

  test("missing are those without a vector, and those that changed after it was made", async () => {
    const index = await open()
    index.put(items(2))
    const asked = [
      { exchange: 0, changedAtMs: 4_000 },
      { exchange: 1, changedAtMs: 6_000 },
      { exchange: 2, changedAtMs: 1 },
    ]
    expect(index.missing(asked).map(({ exchange }) => exchange)).toEqual([1, 2])
  })

  test("what is removed is found no more, and not after a restart either", async () => {
    const index = await open()
    index.put(items(50))
    index.remove([7, 8])
    for (const which of [index, await open()]) {
      const found = which.search(vectorOf(7), 50).map(({ exchange }) => exchange)
      expect(found).toHaveLength(48)
      expect(found.filter((exchange) => exchange === 7 || exchange === 8)).toEqual([])
    }
  })

  test("a removal right after a put comes after it", async () => {
    const index = await open()
    index.put(items(3))
    index.remove([1])
    expect(
      index
        .search(vectorOf(1), 9)
        .map(({ exchange }) => exchange)
        .sort(),
    ).toEqual([0, 2])
  })

  test("a failed write does not stop the next", async () => {
    const index = await open()
    db.pragma("query_only = on")
    expect(() => index.put(items(1))).toThrow(expect.objectContaining({ code: "store_readonly" }))
    db.pragma("query_only = off")
    index.put(items(2))
    expect(index.count()).toBe(2)
  })

  test.each([
    ["another model of the same dimension", { id: "test:other:48", dimension: 48 }],
    ["another dimension", { id: "test:m:32", dimension: 32 }],
  ])("%s sees none of the vectors, and what is left of them is deleted", async (_, other) => {
    const before = await open()
    before.put(items(2_500))
    const after = await open(other)
    expect(after.search(vectorOf(1, other.dimension), 10)).toEqual([])
    expect(after.missing([{ exchange: 1, changedAtMs: 1 }])).toHaveLength(1)
    after.put(items(10, other.dimension))
    expect(after.search(vectorOf(1, other.dimension), 99)).toHaveLength(10)
    let slices = 1
    while (after.removeForeign()) slices++
    expect([slices, db.prepare("select count(*) from vectors").pluck().get()]).toEqual([3, 10])
  })
})
