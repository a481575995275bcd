// The engine alone, on drawn words: how fast it takes documents, answers, writes while it answers, and what it takes.
//   node --max-semi-space-size=4 --max-old-space-size=160 bench/engine.ts [documents]
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Engine, type EngineQuery, type NewDoc, openEngine } from "../src/search/index/engine.ts"
import { sqliteIndex } from "../src/store/dialects/index-sqlite.ts"
import { randomOf } from "../test/fixtures/indexed.ts"
import { report, round, summarize, timed } from "./lib.ts"

const [, , count = "200000"] = process.argv
const DOCUMENTS = Number(count)
const TOKENS = 196
const VOCABULARY = 150_000
const SESSION_DOCS = 200
const DRAWS = 2 ** 20
const random = randomOf(1)

/** Ranks as often as they occur in text: a few in nearly every document, half of all words hardly ever. */
const drawn = Uint32Array.from({ length: DRAWS }, (_, at) => {
  const share = (at + 0.5) / DRAWS
  return Math.floor(Math.exp(share * Math.log(VOCABULARY + 3)) - 1) % VOCABULARY
})
const names = Array.from({ length: VOCABULARY }, (_, rank) => `w${rank.toString(36)}`)

function draw(): string {
  // One in two hundred is a name that occurs nowhere else.
  if (random() < 0.005) return `n${Math.floor(random() * 2 ** 40).toString(36)}`
  return names[drawn[Math.floor(random() * DRAWS)]!]!
}

function makeDoc(seq: number): NewDoc {
  const length = Math.floor(TOKENS * (0.2 + random() * 1.6))
  const words = new Map<string, number>()
  for (let at = 0; at < length; at++) {
    const word = draw()
    words.set(word, (words.get(word) ?? 0) + 1)
  }
  const sessionId = `00000000-0000-4000-8000-${String(Math.floor(seq / SESSION_DOCS)).padStart(12, "0")}`
  return { ref: seq * 2, sessionId, kind: "reply", atMs: seq * 60_000, exchange: seq - (seq % 5), words, length }
}

const folder = mkdtempSync(join(tmpdir(), "throughline-engine-"))
const tables = sqliteIndex({ path: join(folder, "index.db") })
let engine: Engine = openEngine(tables)
let makingMs = 0
let peak = 0
const batches: number[] = []
const batch = (idle = false) => {
  const start = performance.now()
  const more = engine.work({ idle })
  batches.push(performance.now() - start)
  return more
}
const startMs = performance.now()
const kept: NewDoc[] = []
for (let seq = 1; seq <= DOCUMENTS; ) {
  const making = performance.now()
  const docs: NewDoc[] = []
  for (; docs.length < 64 && seq <= DOCUMENTS; seq++) docs.push(makeDoc(seq))
  makingMs += performance.now() - making
  if (random() < 0.05) kept.push(docs[0]!)
  engine.add(docs, seq)
  for (let times = 0; times < 8; times++) batch()
  if (seq % 6400 === 1) peak = Math.max(peak, process.memoryUsage().rss)
}
const addedMs = performance.now() - startMs - makingMs
while (batch(true));
const settledMs = performance.now() - startMs - makingMs
const buildBatches = summarize(batches.splice(0))
const { segments, sizeBytes } = engine.facts()
engine.close()

let openMs = 0
openMs += await timed(async () => {
  engine = openEngine(tables)
})
const queryOf = (doc: NewDoc, words: number, more: Partial<EngineQuery> = {}): EngineQuery => {
  const own = [...doc.words.keys()]
  const picked = Array.from({ length: words }, () => own[Math.floor(random() * own.length)]!)
  return { words: picked.map((word) => ({ word, weight: 1 })), limit: 10, ...more }
}
const sessionsOf = (doc: NewDoc, sessions: number) => {
  const seq = doc.ref / 2
  const ids = Array.from({ length: sessions }, (_, at) => makeDoc(Math.max(1, seq - at * SESSION_DOCS)).sessionId)
  return { filter: { sessionIds: new Set(ids) } }
}
const kinds: Record<string, (doc: NewDoc) => EngineQuery> = {
  "1 word": (doc) => queryOf(doc, 1),
  "3 words": (doc) => queryOf(doc, 3),
  "6 words": (doc) => queryOf(doc, 6),
  "6 words, best 100": (doc) => queryOf(doc, 6, { limit: 100 }),
  "common words": () => ({ words: ["w0", "w1", "w2"].map((word) => ({ word, weight: 1 })), limit: 10 }),
  prefix: (doc) => ({ words: [{ word: [...doc.words.keys()][5]!.slice(0, 3), weight: 1, isPrefix: true }], limit: 10 }),
  "all of 3": (doc) => {
    const own = [...doc.words.keys()]
    return { words: [], all: [[own[3]!, own[9]!, own.at(-1)!]], limit: 500 }
  },
  "6 words, none of 1": (doc) => queryOf(doc, 6, { none: ["w3"] }),
  "6 words in one session": (doc) => queryOf(doc, 6, sessionsOf(doc, 1)),
  "6 words in 50 sessions": (doc) => queryOf(doc, 6, sessionsOf(doc, 50)),
  "6 words in a tenth of time": (doc) =>
    queryOf(doc, 6, { filter: { sinceMs: doc.atMs - DOCUMENTS * 3000, untilMs: doc.atMs + DOCUMENTS * 3000 } }),
}
const rows: Parameters<typeof report>[1] = [
  { what: "documents", value: DOCUMENTS },
  { what: "added per second", value: Math.round((DOCUMENTS / addedMs) * 1000) },
  { what: "added and merged per second", value: Math.round((DOCUMENTS / settledMs) * 1000) },
  { what: "batch p50 / p99 / max, ms", value: `${buildBatches.p50} / ${buildBatches.p99} / ${buildBatches.max}` },
  { what: "segments", value: segments },
  { what: "MB on disk", value: round(sizeBytes / 1e6, 1) },
  { what: "MB of memory at most, while adding", value: round(peak / 1e6, 0) },
  { what: "opened in ms", value: round(openMs, 1) },
]
for (const [kind, make] of Object.entries(kinds)) {
  const times: number[] = []
  let found = 0
  for (const doc of kept.slice(0, 300)) {
    const query = make(doc)
    times.push(
      await timed(async () => {
        found += engine.search(query).length
      }),
    )
  }
  const { p50, p95, p99, max } = summarize(times)
  rows.push({
    what: `${kind} (${round(found / times.length, 1)}): p50/p95/p99/max`,
    value: `${p50}/${p95}/${p99}/${max}`,
  })
}
rows.push({ what: "MB of memory after searching", value: round(process.memoryUsage().rss / 1e6, 0) })

// 200 documents a second in fives, 30 queries a second; what a query waits for a batch counts.
const waits: number[] = []
batches.length = 0
const BUSY_MS = 20_000
const busyFrom = performance.now()
let nextSeq = DOCUMENTS + 1
let asked = 0
while (performance.now() - busyFrom < BUSY_MS) {
  const now = performance.now() - busyFrom
  const due = asked * 33
  if (now >= due) {
    const query = queryOf(kept[asked % kept.length]!, 1 + (asked % 7))
    asked++
    engine.search(query)
    waits.push(performance.now() - busyFrom - due)
  } else if (nextSeq - DOCUMENTS < now / 5) {
    const docs = Array.from({ length: 5 }, () => makeDoc(nextSeq++))
    engine.add(docs, nextSeq)
  } else if (!batch()) await new Promise((resolve) => setTimeout(resolve, 1))
}
const busy = summarize(waits)
const busyBatches = summarize(batches)
rows.push(
  { what: "while 200/s are added: p50/p95/p99/max", value: `${busy.p50}/${busy.p95}/${busy.p99}/${busy.max}` },
  { what: "batches meanwhile p99/max", value: `${busyBatches.p99}/${busyBatches.max}` },
  { what: "MB of memory at the end", value: round(process.memoryUsage().rss / 1e6, 0) },
)
engine.close()
rmSync(folder, { recursive: true, force: true })
report("engine", rows)
