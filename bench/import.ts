// Imports a mixed history into a fresh data directory: speed, memory, time until the newest session is visible, and the
// daemon's response times meanwhile. Then a rescan of 20,000 unchanged files.
//   node bench/import.ts [megabytes] [files]
import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { loadavg } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { zstdDecompressSync } from "node:zlib"
import { makeHome, type TestHome } from "../test/fixtures/daemon.ts"
import { connect } from "../test/fixtures/mcp.ts"
import { claudeCode } from "./corpus/claude-code.ts"
import { codex } from "./corpus/codex.ts"
import { geminiCli } from "./corpus/gemini-cli.ts"
import { call, imported, type Progress, peakRssMb } from "./corpus/running.ts"
import { type Corpus, writeCorpus } from "./corpus.ts"
import { type Row, report, round, type Summary, summarize, timed } from "./lib.ts"

const MEGABYTES = Number(process.argv[2] ?? 1000)
const FILES = Number(process.argv[3] ?? 20_000)

const rows: Row[] = []
const details: Record<string, unknown> = { load: loadavg() }
await importing()
await rescanning()
report("import", rows, details)

async function importing(): Promise<void> {
  const home = makeHome()
  try {
    const corpus = writeCorpus(home.env.HOME!, { bytes: MEGABYTES * 1e6, untilMs: Date.now() })
    const floor = floorMbs(home.env.HOME!)
    const startMs = performance.now()
    const { pid } = await home.json<{ pid: number }>("start")
    const newest = untilVisible(home, corpus, startMs)
    const calls = callsDuring(home)
    let [isMonotone, last]: [boolean, Progress | undefined] = [true, undefined]
    await imported(home, (progress) => {
      if (last) isMonotone &&= isOnward(last, progress)
      last = progress
    })
    const seconds = (performance.now() - startMs) / 1000
    const answers = await calls.end()
    const rate = round(last!.bytesDone / 1e6 / seconds, 1)
    const [newestMs, rss] = [await newest, round(peakRssMb(pid), 0)]
    rows.push(
      { what: `MB/s of ${MEGABYTES} MB`, value: rate, bar: "≥ 25", holds: rate >= 25 },
      { what: "read + JSON.parse alone MB/s", value: floor },
      { what: "peak memory MB", value: rss, bar: "≤ 400", holds: rss <= 400 },
      { what: "newest session visible ms", value: round(newestMs, 0), bar: "≤ 3000", holds: newestMs <= 3000 },
      { what: "progress monotone", value: String(isMonotone), bar: "true", holds: isMonotone },
      { what: "tool call meanwhile p50 ms", value: answers.p50 },
      { what: "tool call meanwhile p95 ms", value: answers.p95 },
      { what: "tool call meanwhile max ms", value: answers.max },
      { what: "turns", value: last!.turns },
    )
    details.import = { corpus, seconds: round(seconds, 1), answers, progress: last }
  } finally {
    await home.dispose()
  }
}

async function rescanning(): Promise<void> {
  const home = makeHome()
  try {
    writeCorpus(home.env.HOME!, {
      bytes: FILES * 3_000,
      sessions: FILES,
      untilMs: Date.now(),
      platforms: [claudeCode, codex, geminiCli].map((platform) => ({ ...platform, share: 1, weight: 1 })),
    })
    const firstMs = await timed(async () => {
      await home.run("start")
      await imported(home)
    })
    await home.run("stop")
    const before = written(home)
    const againMs = await timed(async () => {
      await home.run("start")
      await imported(home)
    })
    const scanMs = await timed(() => call(home, "import"))
    await home.run("stop")
    const changed = written(home) === before ? 0 : 1
    rows.push(
      { what: `first import of ${FILES} small files s`, value: round(firstMs / 1000, 1) },
      { what: "start to rescanned, unchanged ms", value: round(againMs, 0), bar: "≤ 2000", holds: againMs <= 2000 },
      { what: "one more rescan ms", value: round(scanMs, 0), bar: "≤ 2000", holds: scanMs <= 2000 },
      { what: "rows written by it", value: changed === 0 ? "0" : "some", bar: "0", holds: changed === 0 },
    )
  } finally {
    await home.dispose()
  }
}

/** Every write of a reading shows up in one of these. */
function written(home: TestHome): string {
  const db = new DatabaseSync(join(home.dir, "throughline.db"), { readOnly: true })
  try {
    return JSON.stringify(
      db
        .prepare(
          `select (select count(*) from turns) as turns, (select max(seq) from turns) as last_turn,
            (select count(*) from sources) as sources, (select max(read_at_ms) from sources) as read_at,
            (select max(seq) from journal where kind <> 'session.archived') as journal,
            (select count(*) from sessions) as sessions`,
        )
        .get(),
    )
  } finally {
    db.close()
  }
}

/** The lower bound for any importer: read the bytes from disk and parse them. */
function floorMbs(homeDir: string): number {
  let bytes = 0
  const start = performance.now()
  for (const entry of readdirSync(homeDir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !/\.(jsonl|json|zst)$/.test(path)) continue
    const raw = readFileSync(path)
    bytes += raw.length
    const content = path.endsWith(".zst") ? zstdDecompressSync(raw) : raw
    if (path.endsWith(".json")) JSON.parse(content.toString())
    else
      for (let at = 0, end = content.indexOf(10); end >= 0; end = content.indexOf(10, at)) {
        JSON.parse(content.toString("utf8", at, end))
        at = end + 1
      }
  }
  return round(bytes / 1e6 / ((performance.now() - start) / 1000), 0)
}

async function untilVisible(home: TestHome, { newest }: Corpus, startMs: number): Promise<number> {
  for (;;) {
    const { sessions } = await call<{ sessions: { nativeId: string; turnCount: number }[] }>(home, "sessions.list", {
      platform: newest.platform,
      limit: 1000,
    })
    if (sessions.some(({ nativeId, turnCount }) => nativeId === newest.nativeId && turnCount > 0))
      return performance.now() - startMs
    await sleep(20)
  }
}

/** An agent that keeps working during the import. */
function callsDuring(home: TestHome): { end(): Promise<Summary> } {
  const ending = new AbortController()
  const project = join(home.env.HOME!, "project")
  mkdirSync(project, { recursive: true })
  const calling = (async () => {
    const client = await connect(home, { cwd: project })
    const times: number[] = []
    while (!ending.signal.aborted) {
      times.push(await timed(() => client.call("init", { operation: "get_state", mcpRootUri: project })))
      await sleep(50)
    }
    await client.close()
    return summarize(times)
  })()
  return {
    end() {
      ending.abort()
      return calling
    },
  }
}

function isOnward(before: Progress, now: Progress): boolean {
  const part = ({ bytesDone, bytesLeft }: Progress) => bytesDone / Math.max(1, bytesDone + bytesLeft)
  const counted = ["sourcesDone", "bytesDone", "turns"] as const
  return counted.every((field) => now[field] >= before[field]) && part(now) >= part(before) - 0.001
}
