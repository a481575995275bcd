import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { killIndex } from "../../../bench/kill-index.ts"
import { docOf, makeDocs, makeQueries, refsOf, workAll } from "../../../test/fixtures/indexed.ts"
import { Failure } from "../../domain/failure.ts"
import type { IndexChange, IndexTables } from "../../domain/index-tables.ts"
import { sqliteIndex } from "../../store/dialects/index-sqlite.ts"
import { FIRST_COUNTS_ROW } from "./counts.ts"
import { type Engine, openEngine } from "./engine.ts"

let folder: string
let path: string
let opened: Engine[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  path = join(folder, "index.db")
  opened = []
})
afterEach(() => {
  for (const engine of opened) engine.close()
  rmSync(folder, { recursive: true, force: true })
})
const open = (tables: IndexTables = sqliteIndex({ path })) => {
  const engine = openEngine(tables)
  opened.push(engine)
  return engine
}
const query = (word: string) => ({ words: [{ word, weight: 1 }], limit: 10 })

test("abandoned after any batch of a flush or merge, it goes on from its position and ends up the same", async () => {
  const docs = makeDocs(900)
  const queries = makeQueries(40, docs)
  const half = docs.slice(0, 450)
  const addIn = (engine: Engine, some: typeof docs) => {
    for (let at = 0; at < some.length; at += 50) {
      engine.add(some.slice(at, at + 50), some[Math.min(at + 49, some.length - 1)]!.ref)
      while (engine.facts().memtable > 0) engine.work({ idle: true })
    }
  }
  const whole = open(sqliteIndex({ path: join(folder, "whole.db") }))
  addIn(whole, docs)
  workAll(whole)
  const expected = queries.map((request) => whole.search(request))

  const first = open()
  addIn(first, half)
  let stops = 0
  for (let batches = 1; ; batches += 1) {
    const engine = open()
    const left = docs.filter(({ ref }) => ref > engine.facts().position)
    expect(engine.facts().documents).toBe(docs.length - left.length)
    for (const doc of docs) expect(engine.has(doc.ref)).toBe(doc.ref <= engine.facts().position)
    engine.add(left, left.at(-1)?.ref ?? 0)
    let more = true
    for (let batch = 0; batch < batches && more; batch++) more = engine.work({ idle: true })
    if (!more) break
    stops++
  }
  expect(stops).toBeGreaterThan(10)
  const last = open()
  expect(last.facts()).toMatchObject({ documents: 900, memtable: 0, position: docs.at(-1)!.ref })
  // Prefixes are left out: which words are frequent depends on when segments were merged.
  for (const [at, request] of queries.entries())
    if (!request.words.some(({ isPrefix }) => isPrefix)) expect(last.search(request)).toEqual(expected[at])
  const tables = sqliteIndex({ path })
  tables.open()
  expect(tables.segmentsWithPostings()).toHaveLength(last.facts().segments)
  tables.close()
}, 240_000)

test("killed ten times while it writes and merges, nothing is missing, double or otherwise", async () => {
  const { wrong, entries } = await killIndex({ kills: 10, seed: 7 })
  expect(wrong).toEqual([])
  expect(entries).toBeGreaterThan(1000)
}, 240_000)

describe("an index that cannot be used", () => {
  beforeEach(async () => {
    const engine = open()
    engine.add(makeDocs(600), 600)
    workAll(engine)
    engine.close()
    opened = []
  })
  const IS_COUNTS = `(key & ${FIRST_COUNTS_ROW}) <> 0`
  const change = (sql: string) => {
    const db = new Database(path)
    db.exec(sql)
    db.close()
  }

  test.each([
    ["of another version", "version", () => change("update meta set value = '0' where key = 'format'")],
    ["with a segment that is cut", "damaged", () => change("update segments set docs = substr(docs, 1, 100)")],
    ["with a bit that is another", "damaged", () => change("update segments set docs = zeroblob(length(docs))")],
    ["with marks of another size", "damaged", () => change("insert into marks values (1, x'00', x'00')")],
    [
      "with counts that are others",
      "damaged",
      () => change(`update lists set bytes = x'0102030405' where ${IS_COUNTS}`),
    ],
    ["without its sessions", "damaged", () => change("delete from sessions")],
    ["with a column that is missing", "damaged", () => change("alter table segments rename column docs to other")],
    ["without a position", "damaged", () => change("update meta set value = 'x' where key = 'position'")],
    ["that is no database", "damaged", () => writeFileSync(path, "this is no database. ".repeat(1000))],
  ])("%s says so, and works again once it is cleared", async (_, reason, damage) => {
    damage()
    const tables = sqliteIndex({ path })
    expect(() => openEngine(tables)).toThrow(expect.objectContaining({ name: "IndexUnusable", reason }))
    tables.clear()
    const engine = open(tables)
    expect(engine.facts()).toMatchObject({ documents: 0, position: 0 })
    engine.add([docOf(1, "again")], 1)
    workAll(engine)
    expect(refsOf(engine.search(query("again")))).toEqual([1])
  })

  test("with a damaged list says so when the list is needed", async () => {
    change(`update lists set bytes = x'0102' where not ${IS_COUNTS}`)
    const engine = open()
    expect(() => engine.search(query("w1"))).toThrow(
      expect.objectContaining({ name: "IndexUnusable", reason: "damaged" }),
    )
    expect(engine.search(query("nowhere"))).toEqual([])
  })

  test.each([
    ["deleted", () => rmSync(path)],
    [
      "replaced",
      () => {
        rmSync(path)
        writeFileSync(path, "")
      },
    ],
  ])("because it was %s under a running engine is missed at the next slice", async (_, lose) => {
    const tables = sqliteIndex({ path })
    const engine = open(tables)
    lose()
    engine.add([docOf(1, "unlucky")], 601)
    expect(refsOf(engine.search(query("unlucky")))).toEqual([1])
    expect(() => engine.work()).toThrow(expect.objectContaining({ name: "IndexUnusable", reason: "gone" }))
    expect(() => engine.remove([2])).toThrow(expect.objectContaining({ name: "IndexUnusable", reason: "gone" }))
    tables.clear()
    const again = open(tables)
    expect(again.facts()).toMatchObject({ documents: 0, position: 0 })
  })
})

test("a write that fails, whichever it is, leaves nothing double or missing", () => {
  const docs = Array.from({ length: 80 }, (_, at) => docOf(at, `common w${at % 7} own${at}`))
  for (let failing = 2, failed = 1; failed > 0; failing++) {
    rmSync(path, { force: true })
    rmSync(`${path}-wal`, { force: true })
    const tables = sqliteIndex({ path })
    let writes = 0
    const write = (change: IndexChange) => {
      if (++writes === failing) throw new Failure("store_full", "the disk is full")
      tables.write(change)
    }
    const engine = openEngine({ ...tables, write })
    failed = 0
    const work = () => {
      try {
        return engine.work({ idle: true })
      } catch (error) {
        expect(error).toMatchObject({ code: "store_full" })
        failed++
        return true
      }
    }
    for (let from = 0; from < docs.length; from += 10) {
      engine.add(docs.slice(from, from + 10), from + 10)
      while (engine.facts().memtable > 0) work()
    }
    while (work());
    const again = openEngine(sqliteIndex({ path }))
    expect({ ...again.facts(), sizeBytes: 0 }).toEqual({ ...engine.facts(), sizeBytes: 0 })
    expect(again.facts()).toMatchObject({ documents: 80, segments: 1, position: 80 })
    const request = { ...query("w1"), limit: 100 }
    expect(again.search(request)).toEqual(engine.search(request))
    engine.close()
    again.close()
  }
}, 60_000)

describe("purged", () => {
  const bytesOf = () => Buffer.concat(["", "-wal"].map((suffix) => readFileSync(path + suffix)))

  test("no byte of a removed word is left in any file, and all others are", async () => {
    const engine = open()
    const docs = makeDocs(1200).map((doc, at) => {
      const words = new Map([...doc.words, [at % 3 === 0 ? `secret${at}x` : `public${at}x`, 1]])
      return { ...doc, words }
    })
    const secret = docs.filter((_, at) => at % 3 === 0).map(({ ref }) => ref)
    engine.add(docs.slice(0, 700), 1)
    workAll(engine)
    engine.add(docs.slice(700, 1100), 2)
    engine.work({ idle: true })
    engine.add(docs.slice(1100), 3)
    expect(bytesOf().includes("secret3x")).toBe(true)
    engine.remove(secret)
    await engine.purge()
    expect(bytesOf().includes("secret")).toBe(false)
    for (const at of [1, 698, 1099, 1199]) expect(bytesOf().includes(`public${at}x`)).toBe(true)
    for (const on of [engine, open()]) {
      expect(on.facts()).toMatchObject({ documents: 800, position: 3, memtable: 0 })
      expect(refsOf(on.search(query("secret3x")))).toEqual([])
      expect(refsOf(on.search(query("public1x")))).toEqual([docs[1]!.ref])
    }
  })
})
