// Search during writes: latency, quality against exact BM25, memory, disk, and how they scale. ripgrep and plain FTS5 run
// on the same messages.
//   node bench/search.ts [messages …] [--short] [--postgres <url of an empty database | own>] [--home <folder to keep>]
//     [--vectors] [--no-peers]
// Without sizes: 10,000, 100,000 and 1,000,000. --short is 10,000 with a part of the queries. --vectors is by words and vectors
// together instead: 400,000 messages, two to an exchange, so 200,000 vectors.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { startPostgres } from "../test/fixtures/postgres.ts"
import { type Messages, makeMessages, PER_SESSION } from "./corpus/messages.ts"
import { type Row, report, round, type Summary, summarize } from "./lib.ts"
import { exactHits } from "./search-exact.ts"
import { type Place, seqOf } from "./search-fill.ts"
import { fts5Peer, ripgrepPeer } from "./search-peers.ts"
import { fillStore, startHost, startWriter } from "./search-processes.ts"
import { type KnownItem, type LatencyQuery, makeQueries, type Queries } from "./search-queries.ts"
import type { BenchRequest, Found } from "./search-target.ts"

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: "boolean", default: false },
    postgres: { type: "string" },
    home: { type: "string" },
    vectors: { type: "boolean", default: false },
    "no-peers": { type: "boolean", default: false },
  },
})
const SIZES = positionals.length > 0 ? positionals.map(Number) : defaultSizes()
const QUERIES_PER_SECOND = 30
const MESSAGES_PER_SECOND = 200
/** Limits apply at this size; smaller ones show the scaling. */
const BARRED = 1_000_000
const BARS = { p50: 3, p99: 40, hybridP99: 120, ratio: 0.98, sizeShare: 0.4, rssMb: 250 }

const SAME_EVERYWHERE = "all"

const rows: Row[] = []
const details: Record<string, unknown> = { load: loadavg() }
for (const size of SIZES) await (options.vectors ? hybrid(size) : atSize(size))
report(options.vectors ? "search-hybrid" : "search", rows, details)

function defaultSizes(): number[] {
  if (options.vectors) return [options.short ? 10_000 : 400_000]
  return options.short ? [10_000] : [10_000, 100_000, 1_000_000]
}

async function atSize(size: number): Promise<void> {
  const sessions = Math.ceil(size / PER_SESSION)
  const messages = makeMessages({ sessions })
  const queries = makeQueries(messages, sessions)
  const top = options.home ?? mkdtempSync(join(tmpdir(), "throughline-search-"))
  const folder = join(top, String(size))
  mkdirSync(folder, { recursive: true })
  const title = (what: string) => `${size / 1000} k: ${what}`
  const before = rows.length
  try {
    const place: Place = { kind: "sqlite", path: join(folder, "throughline.db") }
    const [filled, exact] = await Promise.all([
      once(join(folder, "filled.json"), async () => {
        const startMs = performance.now()
        return { ...(await fillStore({ place, sessions })), seconds: (performance.now() - startMs) / 1000 }
      }),
      once(join(folder, "exact.json"), () => exactHits(sessions)),
    ])
    rows.push({ what: title("MB of text"), value: round(filled.bytes / 1e6, 1) })
    const measured = await measure(folder, place, sessions, queries, exact, filled.bytes, title)
    if (options.postgres !== undefined) await onPostgres(sessions, queries, measured.found, title)
    if (!options["no-peers"]) peers(folder, messages, sessions, queries, measured.busy, title)
    details[size] = { filled, ...measured.details }
    for (const row of rows.slice(before))
      if (size < BARRED && row.bar !== SAME_EVERYWHERE) {
        delete row.bar
        delete row.holds
      }
  } finally {
    if (options.home === undefined) rmSync(top, { recursive: true, force: true })
  }
}

/** Words and vectors together, for latency only: bench/coding and bench/quality measure recall. */
async function hybrid(size: number): Promise<void> {
  const sessions = Math.ceil(size / PER_SESSION)
  const { latency } = makeQueries(makeMessages({ sessions, isTerse: true }), sessions, { isTerse: true })
  const top = options.home ?? mkdtempSync(join(tmpdir(), "throughline-hybrid-"))
  const folder = join(top, `hybrid-${size}`)
  mkdirSync(folder, { recursive: true })
  try {
    const place: Place = { kind: "sqlite", path: join(folder, "throughline.db") }
    await once(join(folder, "filled.json"), () => fillStore({ place, sessions, isTerse: true }))
    const host = await startHost({ place, vectors: true })
    const built = await host.built()
    const writer = startWriter({ place, sessions, isTerse: true, perSecond: MESSAGES_PER_SECOND })
    const requests = latency.map(toRequest)
    const ran = await host.run(options.short ? requests.filter((_, i) => i % 3 === 0) : requests, QUERIES_PER_SECOND)
    await writer.end()
    await host.close()
    const busy = summarize(ran.ms)
    const title = (what: string) => `${size / 1000} k, hybrid: ${what}`
    rows.push(
      { what: title("vectors"), value: built.vectors },
      { what: title("busy p50 ms"), value: busy.p50 },
      { what: title("busy p95 ms"), value: busy.p95 },
      within(title("busy p99 ms"), busy.p99, BARS.hybridP99),
      { what: title("busy max ms"), value: busy.max },
      { what: title("memory while busy MB"), value: round(ran.rssMb, 0) },
    )
    details[size] = { built, busy, rssMb: ran.rssMb }
  } finally {
    if (options.home === undefined) rmSync(top, { recursive: true, force: true })
  }
}

type Exact = Awaited<ReturnType<typeof exactHits>>

async function measure(
  folder: string,
  place: Place,
  sessions: number,
  queries: Queries,
  exact: Exact,
  textBytes: number,
  title: (what: string) => string,
) {
  const built = await once(join(folder, "built.json"), async () => {
    const builder = await startHost({ place, vectors: false })
    const made = await builder.built()
    await builder.close()
    return made
  })
  rows.push(
    { what: title("index built s"), value: round(built.ms / 1000, 1) },
    within(title("index / text"), built.sizeBytes / textBytes, BARS.sizeShare),
    within(title("peak memory of the index's thread while built MB"), built.peakMb - built.withoutMb, BARS.rssMb, 0),
    { what: title("of its whole process MB"), value: round(built.peakMb, 0) },
  )
  await engineRecall(place, queries, exact, title)
  const host = await startHost({ place, vectors: false })
  const { ms: openedMs, withoutMb } = await host.built()
  rows.push({ what: title("opened again ms"), value: round(openedMs, 0) })
  const quiet = await recall(host.run, queries, exact, title)

  const latency = options.short ? queries.latency.filter((_, i) => i % 3 === 0) : queries.latency
  const writer = startWriter({ place, sessions, perSecond: MESSAGES_PER_SECOND })
  const ran = await host.run(latency.map(toRequest), QUERIES_PER_SECOND)
  const added = await writer.end()
  const busy = summarize(ran.ms)
  rows.push(
    within(title("busy p50 ms, whole answer"), busy.p50, BARS.p50),
    { what: title("busy p95 ms, whole answer"), value: busy.p95 },
    within(title("busy p99 ms, whole answer"), busy.p99, BARS.p99),
    { what: title("busy max ms"), value: busy.max },
    // Subtracts the memory of the process before its thread started.
    within(title("memory of the index's thread while busy MB"), ran.rssMb - withoutMb, BARS.rssMb, 0),
    { what: title("of its whole process MB"), value: round(ran.rssMb, 0) },
  )
  const byType = Object.fromEntries(
    [...new Set(latency.map(({ type }) => type))].map((type) => [
      type,
      timesOf(ran.ms, latency, (q) => q.type === type),
    ]),
  )
  const byFilter = {
    without: timesOf(ran.ms, latency, ({ filter }) => filter === undefined),
    with: timesOf(ran.ms, latency, ({ filter }) => filter !== undefined),
  }
  await host.close()
  await engineBusy(place, sessions, latency, title)
  const found = { said: quiet.said, latency: quiet.latency }
  return { busy, found, details: { built, recall: quiet.details, busy: { ...busy, added, byType, byFilter } } }
}

/** Known items without concurrent writes, on the documents of the reference. By turn, and by exchange as people search. */
async function recall(
  run: (requests: BenchRequest[]) => Promise<{ ms: number[]; found: Found[][] }>,
  queries: Queries,
  exact: Exact,
  title: (what: string) => string,
) {
  const remembered = ({ remembered }: KnownItem) => remembered
  const misremembered = ({ misremembered }: KnownItem) => misremembered
  const sets = [
    { name: "K1", key: "k1", items: queries.said, text: remembered, hasBar: true },
    { name: "K2", key: "k2", items: queries.said, text: misremembered, hasBar: true },
    { name: "tools K1", key: "t1", items: queries.tools, text: remembered, hasBar: false },
    { name: "tools K2", key: "t2", items: queries.tools, text: misremembered, hasBar: false },
  ] as const
  const said: Found[][] = []
  const notes: Record<string, unknown> = {}
  for (const unit of ["exchange", "turn"] as const) {
    for (const { name, key, items, text, hasBar } of sets) {
      const { found, ms } = await run(items.map((item) => ({ query: text(item), limit: 10, unit })))
      if (unit === "turn" && hasBar) said.push(...found)
      const isItem = (item: KnownItem) => (hit: Found) =>
        unit === "turn"
          ? hit.seq === seqOf(item.session, item.number)
          : hit.exchange === seqOf(item.session, item.exchange)
      const hits = items.map((item, i) => found[i]!.some(isItem(item)))
      const reference = exact[unit][key]
      const ratio = count(hits) / count(reference)
      const what = title(`R@10 ${name} by ${unit}, of exact`)
      rows.push({
        what,
        value: round(ratio),
        ...(hasBar ? { bar: `≥ ${BARS.ratio}`, holds: ratio >= BARS.ratio } : {}),
      })
      const fifths = (list: readonly boolean[]) =>
        [0, 1, 2, 3, 4].map((fifth) => count(list.filter((_, i) => items[i]!.fifth === fifth)))
      const spread = { found: fifths(hits), exact: fifths(reference) }
      if (hasBar)
        rows.push({
          what: `${what}, old to new`,
          value: spread.found.map((n, i) => `${n}/${spread.exact[i]}`).join(" "),
        })
      notes[`${name} by ${unit}`] = {
        items: items.length,
        found: count(hits),
        exact: count(reference),
        exactRecall: round(count(reference) / items.length),
        fifths: spread,
        kinds: byKind(items, hits, reference),
        quiet: summarize(ms),
      }
    }
  }
  const latency = await run(queries.latency.map(toRequest))
  return { said, latency: latency.found, details: { ...notes, quiet: summarize(latency.ms) } }
}

/** Before ranking: the loss from the engine's pruning and from the query's words. */
async function engineRecall(place: Place, queries: Queries, exact: Exact, title: (what: string) => string) {
  const host = await startHost({ place, vectors: false, alone: true })
  for (const [name, key, text] of [
    ["K1", "k1", ({ remembered }: KnownItem) => remembered],
    ["K2", "k2", ({ misremembered }: KnownItem) => misremembered],
  ] as const) {
    const { found } = await host.run(queries.said.map((item) => ({ query: text(item), limit: 10, unit: "turn" })))
    const hits = queries.said.filter((item, i) => found[i]!.some(({ seq }) => seq === seqOf(item.session, item.number)))
    rows.push({
      what: title(`R@10 ${name}, engine alone, of exact`),
      value: round(hits.length / count(exact.turn[key])),
    })
  }
  await host.close()
}

/** The ten best turns, in the thread that also indexes new messages: the method behind the limits. */
async function engineBusy(place: Place, sessions: number, latency: LatencyQuery[], title: (what: string) => string) {
  const host = await startHost({ place, vectors: false, alone: true })
  const writer = startWriter({ place, sessions, perSecond: MESSAGES_PER_SECOND })
  const { ms } = await host.run(latency.map(toRequest), QUERIES_PER_SECOND)
  await writer.end()
  await host.close()
  const busy = summarize(ms)
  rows.push(
    within(title("busy p50 ms, list of the ten best"), busy.p50, BARS.p50),
    within(title("busy p99 ms, list of the ten best"), busy.p99, BARS.p99),
  )
}

/** The same messages in PostgreSQL: the lists must be the same, one by one. */
async function onPostgres(
  sessions: number,
  queries: Queries,
  before: { said: Found[][]; latency: Found[][] },
  title: (what: string) => string,
): Promise<void> {
  const server = options.postgres === "own" ? await startPostgres() : undefined
  try {
    const place: Place = { kind: "postgres", url: server ? await server.createDatabase() : options.postgres! }
    await fillStore({ place, sessions })
    const host = await startHost({ place, vectors: false })
    const built = await host.built()
    const requests: BenchRequest[] = [
      ...queries.said.map((item): BenchRequest => ({ query: item.remembered, limit: 10, unit: "turn" })),
      ...queries.said.map((item): BenchRequest => ({ query: item.misremembered, limit: 10, unit: "turn" })),
      ...queries.latency.map(toRequest),
    ]
    const { found, ms } = await host.run(requests)
    await host.close()
    const other = [...before.said, ...before.latency]
    const ids = (list: Found[]) => list.map(({ seq }) => seq).join(" ")
    const different = requests.filter((_, i) => ids(found[i]!) !== ids(other[i]!))
    const same = requests.length - different.length
    const times = summarize(ms)
    rows.push(
      { what: title("PostgreSQL index built s"), value: round(built.ms / 1000, 1) },
      { what: title("PostgreSQL quiet p50 / p99 ms"), value: `${times.p50} / ${times.p99}` },
      {
        what: title("lists as on SQLite"),
        value: `${same} of ${requests.length}`,
        bar: SAME_EVERYWHERE,
        holds: same === requests.length,
      },
      {
        what: title("of the others, with a prefix"),
        value: different.filter(({ query }) => query.endsWith("*")).length,
      },
    )
  } finally {
    await server?.stop()
  }
}

function peers(
  folder: string,
  messages: Messages,
  sessions: number,
  queries: Queries,
  ours: Summary,
  title: (what: string) => string,
): void {
  const plain = queries.latency.filter(({ filter, type }) => filter === undefined && type !== "phrase")
  const some = (every: number) => plain.filter((_, i) => i % every === 0)
  const request = { folder, messages, sessions, items: queries.said.filter((_, i) => i % 12 === 0) }
  const fts5 = fts5Peer({ ...request, queries: some(8) })
  const ripgrep = ripgrepPeer({ ...request, queries: some(25) })
  for (const row of [...fts5.rows, ...ripgrep.rows]) rows.push({ ...row, what: title(row.what) })
  rows.push(
    {
      what: title("times faster than FTS5, p50 / p99"),
      value: `${round(fts5.p50 / ours.p50, 1)} / ${round(fts5.p99 / ours.p99, 1)}`,
    },
    { what: title("times faster than ripgrep, p50"), value: round(ripgrep.p50 / ours.p50, 1) },
  )
}

/** By exchange, as people search. */
function toRequest({ query, filter }: LatencyQuery): BenchRequest {
  return { query, limit: 10, unit: "exchange", ...(filter === undefined ? {} : { filter }) }
}

function within(what: string, value: number, most: number, digits = 3): Row {
  return { what, value: round(value, digits), bar: `≤ ${most}`, holds: value <= most }
}

function byKind(items: readonly KnownItem[], hits: boolean[], reference: readonly boolean[]): Record<string, string> {
  const kinds = Map.groupBy(items.keys(), (i) => items[i]!.kind)
  return Object.fromEntries(
    [...kinds].map(([kind, at]) => [
      kind,
      `${at.filter((i) => hits[i]).length} of ${at.length}, exact ${at.filter((i) => reference[i]).length}`,
    ]),
  )
}

function timesOf(ms: number[], queries: LatencyQuery[], isWanted: (query: LatencyQuery) => boolean): Summary {
  return summarize(ms.filter((_, i) => isWanted(queries[i]!)))
}

/** A reused folder skips completed steps. */
async function once<T>(path: string, make: () => Promise<T>): Promise<T> {
  if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8")) as T
  const made = await make()
  writeFileSync(path, JSON.stringify(made))
  return made
}

function count(list: readonly boolean[]): number {
  return list.filter(Boolean).length
}
