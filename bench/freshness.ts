// How long what agents write takes to be in the archive, and what the daemon costs when nobody writes.
//   node bench/freshness.ts [seconds] [files]
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
import { loadavg } from "node:os"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { makeHome, type TestHome } from "../test/fixtures/daemon.ts"
import { claudeCode } from "./corpus/claude-code.ts"
import { clineManifest, clineMessages } from "./corpus/cline.ts"
import { codex } from "./corpus/codex.ts"
import { geminiCli } from "./corpus/gemini-cli.ts"
import { OpencodeStore } from "./corpus/opencode.ts"
import { makeRandom, type Random } from "./corpus/random.ts"
import { cpuMs, imported, peakRssMb, rssMb } from "./corpus/running.ts"
import { iso, type Step } from "./corpus/session.ts"
import { writeCorpus } from "./corpus.ts"
import { type Row, report, round, type Summary, summarize, timed } from "./lib.ts"

const SECONDS = Number(process.argv[2] ?? 30)
const FILES = Number(process.argv[3] ?? 20_000)
const WRITERS = 20
/** Idle for so long: the sweeps come every 20 s, so that it is a whole number of them. */
const IDLE_MS = SECONDS < 30 ? 20_000 : 60_000
const POLL_MS = 20
/** What is not visible by then is lost. */
const PATIENCE_MS = 30_000

interface Run {
  overall: Summary
  byKind: Record<string, Summary & { records: number }>
  records: number
  lost: number
  cpuPercent: number
  load: number
}

const rows: Row[] = []
const details: Record<string, unknown> = {}
async function emptyHome(): Promise<void> {
  const runs: Run[] = []
  for (const seed of [1, 2]) {
    const home = makeHome()
    try {
      runs.push(await measured(home, seed))
    } finally {
      await home.dispose()
    }
  }
  const best = runs.toSorted((a, b) => a.overall.p95 - b.overall.p95)[0]!
  const { overall, byKind } = best
  rows.push(
    { what: `write to visible p50 ms, ${best.records} records`, value: overall.p50 },
    { what: "write to visible p95 ms", value: overall.p95, bar: "≤ 1000", holds: overall.p95 <= 1000 },
    { what: "write to visible p99 ms", value: overall.p99 },
    { what: "write to visible max ms", value: overall.max },
    ...Object.entries(byKind).map(([kind, { p50, p95, p99, max }]) => ({
      what: `${kind} p50 / p95 / p99 / max ms`,
      value: [p50, p95, p99, max].map((ms) => round(ms, 0)).join(" / "),
    })),
    { what: "records never seen, both runs", ...none(runs.reduce((sum, { lost }) => sum + lost, 0)) },
    { what: "daemon meanwhile, % of a core", value: best.cpuPercent },
    { what: "load average", value: best.load },
  )
  details.runs = runs
}

async function fullHome(): Promise<void> {
  const home = makeHome()
  try {
    const { files } = writeCorpus(home.env.HOME!, {
      bytes: FILES * 3_000,
      sessions: FILES,
      untilMs: Date.now(),
      platforms: [claudeCode, codex, geminiCli].map((platform) => ({ ...platform, share: 1, weight: 1 })),
    })
    const importMs = await timed(async () => {
      await home.run("import")
      await imported(home)
    })
    await settled(home)
    const { pid } = home.registration()
    const peak = round(peakRssMb(pid), 0)
    const after = await idle(pid)
    await home.run("stop")
    await home.run("start")
    await imported(home)
    await settled(home)
    const again = await idle(home.registration().pid)
    const run = await measured(home, 3)
    const p95 = run.overall.p95
    const among = `with ${files} files`
    const cpu = Math.min(after.cpuPercent, again.cpuPercent)
    rows.push(
      { what: `${among}: import s`, value: round(importMs / 1000, 1) },
      { what: `${among}: idle % of a core, ${IDLE_MS / 1000} s`, value: cpu, bar: "≤ 5", holds: cpu <= 5 },
      { what: `${among}: idle memory MB after a restart`, ...memory(again.rss) },
      { what: `${among}: idle memory MB after the import`, ...memory(after.rss) },
      { what: `${among}: peak memory MB of the import`, value: peak },
      { what: `${among}: write to visible p95 ms`, value: p95, bar: "≤ 1000", holds: p95 <= 1000 },
      { what: `${among}: write to visible max ms`, value: run.overall.max },
      { what: `${among}: records never seen`, ...none(run.lost) },
    )
    details.full = { files, idleAfterImport: after, idleAfterRestart: again, run }
  } finally {
    await home.dispose()
  }
}

const none = (count: number) => ({ value: count, bar: "0", holds: count === 0 })
const memory = (mb: number) => ({ value: mb, bar: "≤ 120", holds: mb <= 120 })

/** Words are indexed and memory is given back for a while after an import. */
async function settled(home: TestHome): Promise<void> {
  for (;;) {
    const { followers } = await home.json<{ followers: { lag: number }[] }>("status")
    if (followers.every(({ lag }) => lag === 0)) break
    await sleep(500)
  }
  await sleep(5_000)
}

async function idle(pid: number): Promise<{ cpuPercent: number; rss: number }> {
  const before = cpuMs(pid)
  const ms = await timed(() => sleep(IDLE_MS))
  return { cpuPercent: round(((cpuMs(pid) - before) / ms) * 100, 2), rss: round(rssMb(pid), 0) }
}

/** Everybody writes for a while; each record says who it is, and is waited for. */
async function measured(home: TestHome, seed: number): Promise<Run> {
  const agents = new Agents(home.env.HOME!, seed)
  try {
    await home.run("start")
    await imported(home)
    const { pid } = home.registration()
    const before = cpuMs(pid)
    const watching = agents.watchArchive(join(home.dir, "throughline.db"))
    const ms = await timed(() => agents.write(SECONDS * 1000))
    const cpuPercent = round(((cpuMs(pid) - before) / ms) * 100, 1)
    const lost = await watching.end()
    return { ...agents.summary(), lost, cpuPercent, load: round(loadavg()[0]!, 2) }
  } finally {
    agents.close()
  }
}

/** The live neighbours: transcripts that grow, databases that are written, a file that is rewritten. */
class Agents {
  readonly #homeDir: string
  readonly #random: Random
  readonly #seed: number
  readonly #pending = new Map<string, { kind: string; atMs: number }>()
  readonly #times: Record<string, number[]> = {}
  readonly #databases: { kind: string; store: OpencodeStore }[]
  #count = 0

  constructor(homeDir: string, seed: number) {
    this.#homeDir = homeDir
    this.#random = makeRandom(seed + 1000)
    this.#seed = seed
    this.#databases = ["opencode", "kilo"].map((kind) => ({
      kind: `${kind} database`,
      store: new OpencodeStore(join(homeDir, ".local/share", kind, `${kind}.db`)),
    }))
    // Agents that were used before: their folders are there and watched. What an agent's first day is like, tests say.
    this.#claude("/w/before")()
    this.#codex()()
    this.#cline()()
    this.#pending.clear()
  }

  async write(ms: number): Promise<void> {
    const untilMs = performance.now() + ms
    const every = async (pauseMs: () => number, write: () => void) => {
      for (let next = performance.now() + pauseMs(); next < untilMs; next += pauseMs()) {
        await sleep(Math.max(0, next - performance.now()))
        write()
      }
    }
    const sometimes = () => this.#random.size(500, 1)
    await Promise.all([
      // Each in a project of its own, so that folders and files appear in the middle of it.
      ...Array.from({ length: WRITERS }, (_, index) =>
        every(sometimes, index % 2 === 0 ? this.#claude(`/w/fresh-${this.#seed}-${index}`) : this.#codex()),
      ),
      ...this.#databases.map(({ kind, store }) => every(() => 20, this.#rows(kind, store))),
      every(() => 1000, this.#cline()),
    ])
  }

  /** Sees what the archive holds as anyone who reads the file does. */
  watchArchive(path: string): { end(): Promise<number> } {
    const db = new DatabaseSync(path, { readOnly: true })
    const newer = db.prepare("SELECT seq, substr(text, 1, 16) AS mark FROM turns WHERE seq > ? ORDER BY seq")
    let last = (db.prepare("SELECT coalesce(max(seq), 0) AS last FROM turns").get() as { last: number }).last
    let endMs = Number.POSITIVE_INFINITY
    const polling = (async () => {
      while (performance.now() < endMs && !(endMs < Number.POSITIVE_INFINITY && this.#pending.size === 0)) {
        for (const { seq, mark } of newer.all(last) as { seq: number; mark: string }[]) {
          last = seq
          this.#seen(mark)
        }
        await sleep(POLL_MS)
      }
      db.close()
    })()
    return {
      end: async () => {
        endMs = performance.now() + PATIENCE_MS
        await polling
        for (const { kind } of this.#pending.values()) console.error(`never seen: one of ${kind}`)
        return this.#pending.size
      },
    }
  }

  summary(): Pick<Run, "overall" | "byKind" | "records"> {
    const all = Object.values(this.#times).flat()
    const byKind = Object.entries(this.#times).map(([kind, times]) => [
      kind,
      { ...summarize(times), records: times.length },
    ])
    return { overall: summarize(all), byKind: Object.fromEntries(byKind), records: all.length }
  }

  close(): void {
    for (const { store } of this.#databases) store.close()
  }

  #seen(mark: string): void {
    const record = this.#pending.get(mark)
    if (!record) return
    this.#pending.delete(mark)
    this.#times[record.kind] ??= []
    this.#times[record.kind]!.push(performance.now() - record.atMs)
  }

  /** The first 16 characters of a text. The clock runs from before the write. */
  #mark(kind: string): string {
    const mark = `mark ${String(++this.#count).padStart(10, "0")}.`
    this.#pending.set(mark, { kind, atMs: performance.now() })
    return mark
  }

  #claude(cwd: string): () => void {
    const sessionId = this.#random.uuid()
    const path = join(this.#homeDir, ".claude/projects", cwd.replaceAll("/", "-"), `${sessionId}.jsonl`)
    let [parentUuid, isPrompt]: [string | null, boolean] = [null, false]
    return () => {
      const uuid = this.#random.uuid()
      isPrompt = !isPrompt
      const about = { parentUuid, isSidechain: false, userType: "external", cwd, sessionId, version: "2.1.325" }
      const text = `${this.#mark("Claude Code")} ${"What is said. ".repeat(20)}`
      const answer = { id: `msg_${uuid}`, type: "message", role: "assistant", model: "claude-x" }
      const record = {
        ...about,
        gitBranch: "main",
        type: isPrompt ? "user" : "assistant",
        message: isPrompt ? { role: "user", content: text } : { ...answer, content: [{ type: "text", text }] },
        uuid,
        timestamp: iso(Date.now()),
      }
      parentUuid = uuid
      append(path, record)
    }
  }

  #codex(): () => void {
    const { hex } = this.#random
    const id = `0198${hex(4)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`
    const stamp = iso(Date.now()).slice(0, 19)
    const day = stamp.slice(0, 10).replaceAll("-", "/")
    const path = join(this.#homeDir, ".codex/sessions", day, `rollout-${stamp.replaceAll(":", "-")}-${id}.jsonl`)
    let count = 0
    return () => {
      const timestamp = iso(Date.now())
      const text = `${this.#mark("Codex")} ${"What is said. ".repeat(20)}`
      if (count === 0) {
        const meta = { id, timestamp, cwd: "/w/fresh", originator: "codex_cli_rs", cli_version: "0.166.0" }
        append(path, { timestamp, type: "session_meta", payload: { ...meta, source: "cli" } })
        append(path, { timestamp, type: "turn_context", payload: { cwd: "/w/fresh", model: "gpt-x" } })
      }
      const payload =
        count++ % 2 === 0
          ? { type: "message", role: "user", content: [{ type: "input_text", text }] }
          : { type: "message", role: "assistant", id: `msg_${hex(20)}`, content: [{ type: "output_text", text }] }
      append(path, { timestamp, type: "response_item", payload })
    }
  }

  /** A prompt, and an answer of many parts to it. */
  #rows(kind: string, store: OpencodeStore): () => void {
    const sessionId = `ses_${this.#random.hex(26)}`
    store.session(sessionId, { directory: "/w/fresh", title: "Freshness", atMs: Date.now() })
    let [messageId, count] = ["", 0]
    return () => {
      const now = Date.now()
      const at = count++ % 25
      if (at < 2) messageId = store.message(sessionId, at === 0 ? "user" : "assistant", now)
      if (at === 0) store.touch(sessionId, now)
      const text = `${this.#mark(kind)} ${"What is said. ".repeat(20)}`
      store.part(messageId, sessionId, { type: "text", text }, now)
    }
  }

  #cline(): () => void {
    const startMs = Date.now()
    const id = `${startMs}_${this.#random.hex(6)}`
    const [folder, steps]: [string, Step[]] = [join(this.#homeDir, ".cline/data/sessions", id), []]
    const path = join(folder, `${id}.messages.json`)
    return () => {
      const kind = steps.length % 2 === 0 ? "prompt" : "reply"
      const text = `${this.#mark("Cline rewritten")} ${"What is said. ".repeat(20)}`
      steps.push({ kind, text, atMs: Date.now(), callId: "", tool: "", answerId: "" })
      mkdirSync(folder, { recursive: true })
      if (steps.length === 1)
        writeFileSync(join(folder, `${id}.json`), clineManifest(id, "/w/fresh", "Freshness", startMs, path))
      writeFileSync(path, clineMessages(id, steps))
    }
  }
}

function append(path: string, record: object): void {
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, `${JSON.stringify(record)}\n`)
}

await emptyHome()
await fullHome()
report("freshness", rows, details)
