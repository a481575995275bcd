// Search by vector over indexes of the given sizes, by our own code and by sqlite-vec: how long, how much memory, and how
// much of exact cosine is found. node bench/vectors.ts [sizes, comma-separated] [engines, comma-separated]
// No model can be fetched where this runs, so the vectors are drawn: with a few strong and many weak directions, as models
// have them, and a mean that is not zero. Their neighbours are harder to tell apart than those of real texts.
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import Database from "better-sqlite3"
import { systemClock } from "../src/lib/clock.ts"
import { openVectorIndex } from "../src/search/vectors/index.ts"
import { rotationOf } from "../src/search/vectors/rotation.ts"
import { vectorsSqlite } from "../src/store/dialects/vectors-sqlite.ts"
import { type Row, report, round, type Summary, summarize, timed } from "./lib.ts"
import { type Kind, sqliteVec } from "./peers/sqlite-vec.ts"

const DIMENSION = 384
const QUERIES = 40
const ROUNDS = 6
/** A slow engine has fewer rounds. */
const MOST_MS = 20_000
const EMBEDDER = { id: `drawn:${DIMENSION}`, dimension: DIMENSION }
/** `bits-400` is sqlite-vec by signs, with so many candidates for the second look. */
type EngineName = "own" | Kind
/** Ours has bars of its own; the others are there to be compared. */
const nameOf = (engine: EngineName) => (engine === "own" ? "" : `sqlite-vec ${engine}, `)
/** The lines that one would be without, or need. */
const filesOf = (engine: EngineName) =>
  engine === "own"
    ? ["best", "codes", "index", "quantised", "rotation", "scan", "simd"].map((name) => `src/search/vectors/${name}.ts`)
    : ["bench/peers/sqlite-vec.ts"]
const [mode, folder = "", engine = "own"] = process.argv.slice(2)

interface Item {
  exchange: number
  sessionId: string
  vector: Float32Array
}

interface Engine {
  put(items: Item[]): Promise<void>
  search(vector: Float32Array, limit: number, accept?: (exchange: number) => boolean): Promise<{ exchange: number }[]>
}

interface Measured {
  openMs: number
  plain: Summary
  filtered: Summary
  half: Summary
  most: Summary
  /** Of this thread alone: the machine may be busy with others. */
  cpu: Record<"plain" | "filtered" | "half" | "most", Summary>
  rssBeforeMb: number
  rssAfterMb: number
  recall: number
  filteredFull: boolean
}

if (mode === "search") process.send!(await measure(folder, engine as EngineName))
else await main((mode ?? "200000,1000000").split(",").map(Number), (folder || "own").split(",") as EngineName[])

async function main(sizes: number[], engines: EngineName[]): Promise<void> {
  const rows: Row[] = []
  const details: Record<string, unknown> = {}
  for (const size of sizes) {
    const at = mkdtempSync(join(tmpdir(), "throughline-bench-vectors-"))
    try {
      const putMs = await build(at, size, engines)
      for (const which of engines) {
        // Another process, so that its memory is the index's alone.
        const child = fork(fileURLToPath(import.meta.url), ["search", at, which])
        const [found] = (await once(child, "message")) as [Measured]
        details[`${which} ${size}`] = found
        rows.push(...rowsOf(which, size, found, putMs[which]!, statSync(join(at, `${which}.db`)).size))
      }
    } finally {
      rmSync(at, { recursive: true, force: true })
    }
  }
  for (const which of engines) rows.push({ what: `${nameOf(which)}lines of code`, value: linesOf(filesOf(which)) })
  report(["vectors", ...sizes.map(String), ...engines].join("-"), rows, details)
}

function rowsOf(which: EngineName, size: number, found: Measured, putMs: number, bytes: number): Row[] {
  const name = `${nameOf(which)}${size / 1_000} k`
  const bar = (what: string, value: number): Row =>
    which === "own" && size <= 200_000
      ? { what: `${name}: ${what}`, value, bar: "<= 120", holds: value <= 120 }
      : { what: `${name}: ${what}`, value }
  return [
    { what: `${name}: search p50 ms`, value: found.plain.p50 },
    {
      what: `${name}: p50 / p99 ms of processor time`,
      value: `${found.cpu.plain.p50} / ${found.cpu.plain.p99}`,
    },
    { what: `${name}: the same, one in a hundred`, value: `${found.cpu.filtered.p50} / ${found.cpu.filtered.p99}` },
    { what: `${name}: the same, every other`, value: `${found.cpu.half.p50} / ${found.cpu.half.p99}` },
    { what: `${name}: the same, four of five`, value: `${found.cpu.most.p50} / ${found.cpu.most.p99}` },
    bar("search p99 ms", found.plain.p99),
    bar("search p99 ms, one in a hundred accepted", found.filtered.p99),
    bar("search p99 ms, every other accepted", found.half.p99),
    bar("search p99 ms, four of five accepted", found.most.p99),
    {
      what: `${name}: recall@10 of exact cosine`,
      value: found.recall,
      ...(which === "own" ? { bar: ">= 0.95", holds: found.recall >= 0.95 } : {}),
    },
    {
      what: `${name}: filtered lists are full`,
      value: String(found.filteredFull),
      ...(which === "own" ? { bar: "true", holds: found.filteredFull } : {}),
    },
    { what: `${name}: open ms`, value: found.openMs },
    {
      what: `${name}: memory MB, over ${found.rssBeforeMb} before`,
      value: round(found.rssAfterMb - found.rssBeforeMb, 0),
    },
    { what: `${name}: put, vectors/s`, value: Math.round(size / (putMs / 1000)) },
    { what: `${name}: file MB`, value: round(bytes / 2 ** 20, 0) },
  ]
}

function linesOf(files: string[]): number {
  const texts = files.map((file) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8"))
  return texts.reduce((sum, text) => sum + text.trimEnd().split("\n").length, 0)
}

function openDatabase(at: string, which: EngineName): Database.Database {
  const db = new Database(join(at, `${which}.db`))
  db.pragma("journal_mode = WAL")
  db.pragma("synchronous = NORMAL")
  db.pragma("cache_size = -16000")
  return db
}

async function openEngine(db: Database.Database, which: EngineName): Promise<Engine> {
  const engine =
    which === "own" ? await openVectorIndex(EMBEDDER, vectorsSqlite(db), systemClock) : sqliteVec(db, DIMENSION, which)
  return { put: async (items) => engine.put(items), search: async (...query) => engine.search(...query) }
}

/** Draws and puts the vectors; writes the queries and their exact ten nearest beside them. */
async function build(at: string, size: number, engines: EngineName[]): Promise<Record<string, number>> {
  const draw = drawing()
  const open = await Promise.all(
    engines.map(async (which) => {
      const db = openDatabase(at, which)
      return { which, db, engine: await openEngine(db, which) }
    }),
  )
  const queries = Array.from({ length: QUERIES }, () => draw.near(draw.one()))
  const nearest = queries.map(() => [] as { exchange: number; score: number }[])
  const putMs: Record<string, number> = Object.fromEntries(engines.map((which) => [which, 0]))
  for (let from = 0; from < size; from += 2_000) {
    const items = Array.from({ length: Math.min(2_000, size - from) }, (_, offset) => ({
      exchange: from + offset,
      sessionId: `session ${Math.floor((from + offset) / 40)}`,
      vector: draw.finish(draw.one()),
    }))
    for (const { which, engine } of open) putMs[which]! += await timed(() => engine.put(items))
    for (const { exchange, vector } of items)
      for (const [which, query] of queries.entries()) keep(nearest[which]!, exchange, dot(query, vector))
  }
  for (const { db } of open) {
    db.pragma("wal_checkpoint(truncate)")
    db.close()
  }
  const truth = nearest.map((list) => list.map(({ exchange }) => exchange))
  writeFileSync(join(at, "queries.json"), JSON.stringify({ queries: queries.map((query) => [...query]), truth, size }))
  return putMs
}

async function measure(at: string, which: EngineName): Promise<Measured> {
  const { queries, truth, size } = JSON.parse(readFileSync(join(at, "queries.json"), "utf8")) as {
    queries: number[][]
    truth: number[][]
    size: number
  }
  const vectors = queries.map((query) => Float32Array.from(query))
  const rssBeforeMb = rss()
  const db = openDatabase(at, which)
  const start = performance.now()
  const index = await openEngine(db, which)
  const openMs = round(performance.now() - start, 0)
  let found = 0
  let filteredFull = true
  const none = () => ({ plain: [] as number[], filtered: [] as number[], half: [] as number[], most: [] as number[] })
  const [walls, cpus] = [none(), none()]
  const measured = async (which: keyof typeof walls, work: () => Promise<unknown>) => {
    const before = process.threadCpuUsage()
    walls[which].push(await timed(work))
    const { user, system } = process.threadCpuUsage(before)
    cpus[which].push((user + system) / 1_000)
  }
  const endMs = performance.now() + MOST_MS
  for (let round = 0; round < ROUNDS && performance.now() < endMs; round++) {
    for (const [query, vector] of vectors.entries()) {
      await measured("plain", async () => {
        const hits = await index.search(vector, 10)
        if (round === 0) found += hits.filter(({ exchange }) => truth[query]!.includes(exchange)).length
      })
      await measured("filtered", async () => {
        const hits = await index.search(vector, 100, (exchange) => exchange % 100 === query)
        filteredFull &&= hits.length === Math.min(100, Math.floor(size / 100))
      })
      await measured("half", () => index.search(vector, 100, (exchange) => exchange % 2 === 0))
      await measured("most", () => index.search(vector, 100, (exchange) => exchange % 5 !== 0))
    }
  }
  const rssAfterMb = rss()
  db.close()
  const recall = round(found / (vectors.length * 10))
  return {
    openMs,
    plain: summarize(walls.plain),
    filtered: summarize(walls.filtered),
    half: summarize(walls.half),
    most: summarize(walls.most),
    cpu: {
      plain: summarize(cpus.plain),
      filtered: summarize(cpus.filtered),
      half: summarize(cpus.half),
      most: summarize(cpus.most),
    },
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
