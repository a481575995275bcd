// Search by vector over an index of the given sizes: how long, how much memory, and how much of exact cosine is found.
// No model can be fetched where this runs, so the vectors are drawn: with a few strong and many weak directions, as models
// have them, and a mean that is not zero. Their neighbours are harder to tell apart than those of real texts.
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import Database from "better-sqlite3"
import { systemClock } from "../src/domain/clock.ts"
import { openVectorIndex } from "../src/recall/vectors/index.ts"
import { rotationOf } from "../src/recall/vectors/rotation.ts"
import { vectorsSqlite } from "../src/store/vectors-sqlite.ts"
import { type Row, report, round, type Summary, summarize, timed } from "./lib.ts"

const DIMENSION = 384
const QUERIES = 40
const EMBEDDER = { id: `drawn:${DIMENSION}`, dimension: DIMENSION }
const [mode, folder = ""] = process.argv.slice(2)

interface Measured {
  openMs: number
  plain: Summary
  filtered: Summary
  rssBeforeMb: number
  rssAfterMb: number
  recall: number
  filteredFull: boolean
}

if (mode === "search") process.send!(await measure(folder))
else await main(mode ? mode.split(",").map(Number) : [200_000, 1_000_000])

async function main(sizes: number[]): Promise<void> {
  const rows: Row[] = []
  const details: Record<string, unknown> = {}
  for (const size of sizes) {
    const at = mkdtempSync(join(tmpdir(), "throughline-bench-vectors-"))
    try {
      const putMs = await build(at, size)
      // Another process, so that its memory is the index's alone.
      const child = fork(fileURLToPath(import.meta.url), ["search", at])
      const [found] = (await once(child, "message")) as [Measured]
      const name = `${size / 1_000} k`
      const isSmall = size <= 200_000
      rows.push(
        { what: `${name}: search p50 ms`, value: found.plain.p50 },
        bar(`${name}: search p99 ms`, found.plain.p99, isSmall ? 40 : 120),
        bar(`${name}: search p99 ms, one in a hundred accepted`, found.filtered.p99, isSmall ? 40 : 120),
        {
          what: `${name}: recall@10 of exact cosine`,
          value: found.recall,
          bar: ">= 0.95",
          holds: found.recall >= 0.95,
        },
        {
          what: `${name}: filtered lists are full`,
          value: String(found.filteredFull),
          bar: "true",
          holds: found.filteredFull,
        },
        { what: `${name}: open ms`, value: found.openMs },
        {
          what: `${name}: memory MB, over ${found.rssBeforeMb} before`,
          value: round(found.rssAfterMb - found.rssBeforeMb, 0),
        },
        { what: `${name}: put, vectors/s`, value: Math.round(size / (putMs / 1000)) },
        { what: `${name}: file MB`, value: round(statSync(join(at, "index.db")).size / 2 ** 20, 0) },
      )
      details[name] = found
    } finally {
      rmSync(at, { recursive: true, force: true })
    }
  }
  report("vectors", rows, details)
}

function bar(what: string, value: number, most: number): Row {
  return { what, value, bar: `<= ${most}`, holds: value <= most }
}

function open(at: string): Database.Database {
  const db = new Database(join(at, "index.db"))
  db.pragma("journal_mode = WAL")
  db.pragma("synchronous = NORMAL")
  db.pragma("cache_size = -16000")
  return db
}

/** Draws and puts the vectors; writes the queries and their exact ten nearest beside them. */
async function build(at: string, size: number): Promise<number> {
  const draw = drawing()
  const db = open(at)
  const index = await openVectorIndex(EMBEDDER, vectorsSqlite(db), systemClock)
  const queries = Array.from({ length: QUERIES }, () => draw.near(draw.one()))
  const nearest = queries.map(() => [] as { exchange: number; score: number }[])
  let putMs = 0
  for (let from = 0; from < size; from += 2_000) {
    const items = Array.from({ length: Math.min(2_000, size - from) }, (_, offset) => ({
      exchange: from + offset,
      sessionId: `session ${Math.floor((from + offset) / 40)}`,
      vector: draw.finish(draw.one()),
    }))
    putMs += await timed(() => index.put(items))
    for (const { exchange, vector } of items)
      for (const [which, query] of queries.entries()) keep(nearest[which]!, exchange, dot(query, vector))
  }
  db.pragma("wal_checkpoint(truncate)")
  db.close()
  const truth = nearest.map((list) => list.map(({ exchange }) => exchange))
  writeFileSync(join(at, "queries.json"), JSON.stringify({ queries: queries.map((query) => [...query]), truth, size }))
  return putMs
}

async function measure(at: string): Promise<Measured> {
  const { queries, truth, size } = JSON.parse(readFileSync(join(at, "queries.json"), "utf8")) as {
    queries: number[][]
    truth: number[][]
    size: number
  }
  const vectors = queries.map((query) => Float32Array.from(query))
  const rssBeforeMb = rss()
  const db = open(at)
  const start = performance.now()
  const index = await openVectorIndex(EMBEDDER, vectorsSqlite(db), systemClock)
  const openMs = round(performance.now() - start, 0)
  let found = 0
  let filteredFull = true
  const [plain, filtered]: [number[], number[]] = [[], []]
  for (let round = 0; round < 6; round++) {
    for (const [which, vector] of vectors.entries()) {
      const took = await timed(async () => {
        const hits = await index.search(vector, 10)
        if (round === 0) found += hits.filter(({ exchange }) => truth[which]!.includes(exchange)).length
      })
      const tookFiltered = await timed(async () => {
        const hits = await index.search(vector, 100, (exchange) => exchange % 100 === which)
        filteredFull &&= hits.length === Math.min(100, Math.floor(size / 100))
      })
      plain.push(took)
      filtered.push(tookFiltered)
    }
  }
  const rssAfterMb = rss()
  db.close()
  const recall = round(found / (vectors.length * 10))
  return {
    openMs,
    plain: summarize(plain),
    filtered: summarize(filtered),
    rssBeforeMb,
    rssAfterMb,
    recall,
    filteredFull,
  }
}

function rss(): number {
  return Math.round(process.memoryUsage().rss / 2 ** 20)
}

/** Topics, within them exchanges, along directions of falling strength, turned so that no component is special. */
function drawing() {
  let state = 42
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  // The sum of three is near enough to a bell. A vector takes a run of them: a million drawn one by one would take minutes.
  const bells = Float32Array.from({ length: 2 ** 22 }, () => (random() + random() + random() - 1.5) * 2)
  const strength = Float32Array.from({ length: DIMENSION }, (_, at) => 1 / Math.sqrt(1 + at / 10))
  const drawn = (around: Float32Array | undefined, spread: number) => {
    const from = Math.floor(random() * (bells.length - DIMENSION))
    const vector = new Float32Array(DIMENSION)
    for (let at = 0; at < DIMENSION; at++)
      vector[at] = (around ? around[at]! : 0) + spread * strength[at]! * bells[from + at]!
    return vector
  }
  const topics = Array.from({ length: 2_000 }, () => drawn(undefined, 0.6))
  const mean = drawn(undefined, 0.5)
  const rotate = rotationOf(DIMENSION + 1)
  const finish = (vector: Float32Array) => {
    const moved = new Float32Array(DIMENSION + 1)
    for (let at = 0; at < DIMENSION; at++) moved[at] = vector[at]! + mean[at]!
    const turned = rotate(moved).subarray(0, DIMENSION)
    const norm = Math.sqrt(dot(turned, turned))
    return turned.map((value) => value / norm)
  }
  return {
    one: () => drawn(topics[Math.floor(random() * topics.length)], 1),
    near: (vector: Float32Array) => finish(drawn(vector, 0.7)),
    finish,
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!
  return sum
}

function keep(list: { exchange: number; score: number }[], exchange: number, score: number): void {
  if (list.length === 10 && score <= list[9]!.score) return
  list.push({ exchange, score })
  list.sort((a, b) => b.score - a.score)
  if (list.length > 10) list.pop()
}
