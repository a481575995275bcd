// What an agent notices of being read: nothing in its folders changes, its commits do not wait, and what it deletes stays.
//   node bench/neighbour.ts [seconds] [megabytes] [rounds]
import { createHash } from "node:crypto"
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync } from "node:fs"
import { loadavg } from "node:os"
import { join, relative } from "node:path"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { makeHome, type TestHome } from "../test/fixtures/daemon.ts"
import { OpencodeStore } from "./corpus/opencode.ts"
import { call, cpuMs, imported } from "./corpus/running.ts"
import { writeCorpus } from "./corpus.ts"
import { type Row, report, round, type Summary, summarize } from "./lib.ts"

const SECONDS = Number(process.argv[2] ?? 8)
const MEGABYTES = Number(process.argv[3] ?? 30)
/** Alone and read take turns: the disk's own noise affects both, and a p99 needs thousands of commits. */
const ROUNDS = Number(process.argv[4] ?? 6)
const PAUSE_MS = 10
const MOST_GROWTH_MS = 1
/** A log that a reader holds open grows with every commit; one that is only read now and then does not. */
const MOST_LOG_GROWTH = 2
const PATIENCE_MS = 30_000
const SQLITE_BUSY = 5

const rows: Row[] = []
const details: Record<string, unknown> = {}
async function untouched(): Promise<void> {
  const home = makeHome()
  // One database whose owner runs, with rows that are in its log only.
  let live: OpencodeStore | undefined
  try {
    const corpus = writeCorpus(home.env.HOME!, { bytes: MEGABYTES * 1e6, untilMs: Date.now() })
    live = new OpencodeStore(join(home.env.HOME!, ".local/share/kilo/kilo.db"))
    live.session("ses_live", { directory: "/w/live", title: "Live", atMs: Date.now() })
    const message = live.message("ses_live", "user", Date.now())
    live.part(message, "ses_live", { type: "text", text: "Still in the log" }, Date.now())

    const before = listing(home)
    await home.run("start")
    await imported(home)
    await call(home, "import")
    const after = listing(home)
    const changes = [...new Set([...before.keys(), ...after.keys()])].filter(
      (path) => before.get(path) !== after.get(path),
    )
    for (const path of changes) console.error(`${path}: ${before.get(path)} → ${after.get(path)}`)
    rows.push({
      what: `of ${before.size} files and folders, ${corpus.sessions} sessions: touched by the import`,
      value: changes.length,
      bar: "0",
      holds: changes.length === 0,
    })

    const had = archived(home)
    live.close()
    live = undefined
    for (const name of readdirSync(home.env.HOME!))
      if (join(home.env.HOME!, name) !== home.dir) rmSync(join(home.env.HOME!, name), { recursive: true })
    await call(home, "import")
    await home.run("stop")
    await home.run("start")
    await imported(home)
    await call(home, "import")
    const has = archived(home)
    const isKept = JSON.stringify(had) === JSON.stringify(has) && had.turns > 0 && had.sessions >= corpus.sessions
    rows.push({
      what: "sessions / turns after the agents deleted everything",
      value: `${has.sessions} / ${has.turns}`,
      bar: `= ${had.sessions} / ${had.turns} before, none superseded by it`,
      holds: isKept,
    })
    details.untouched = { corpus, changes, had, has }
  } finally {
    live?.close()
    await home.dispose()
  }
}

/** Names, kinds, sizes, times and bytes of all that is not ours; folders too, since a file that came and went moves theirs. */
function listing(home: TestHome): Map<string, string> {
  const found = new Map<string, string>()
  const look = (path: string) => {
    if (path === home.dir) return
    const { mode, size, mtimeNs, ino } = lstatSync(path, { bigint: true })
    const isFolder = lstatSync(path).isDirectory()
    const content = isFolder ? "" : createHash("sha256").update(readFileSync(path)).digest("hex")
    // If it contains our data directory, the topmost folder may change.
    if (path !== home.env.HOME)
      found.set(relative(home.env.HOME!, path), `${mode} ${size} ${mtimeNs} ${ino} ${content}`)
    if (isFolder) for (const name of readdirSync(path)) look(join(path, name))
  }
  look(home.env.HOME!)
  return found
}

interface Archived {
  sessions: number
  turns: number
  superseded: number
}

function archived(home: TestHome): Archived {
  const db = new DatabaseSync(join(home.dir, "throughline.db"), { readOnly: true })
  try {
    const sql = `SELECT (SELECT count(*) FROM sessions) AS sessions, count(*) AS turns,
      count(superseded_at_ms) AS superseded FROM turns`
    return db.prepare(sql).get() as unknown as Archived
  } finally {
    db.close()
  }
}

interface Writing {
  commits: Summary & { count: number }
  busy: number
  /** The log's largest size, and how often it was restarted. */
  logMb: number
  logResets: number
}

async function undisturbed(): Promise<void> {
  const home = makeHome()
  const database = (name: string) => join(home.env.HOME!, ".local/share", name)
  // Made before the daemon starts, so that its folder is followed from the first commit on. Of the database beside it
  // nobody reads: it shows what the machine is to blame for.
  const [alone, aloneBeside, read, beside] = ["alone/a.db", "alone/b.db", "opencode/opencode.db", "beside/b.db"].map(
    (name) => new Writer(database(name)),
  ) as [Writer, Writer, Writer, Writer]
  let [missing, daemonMs] = [0, 0]
  try {
    const whileRead = async () => {
      await home.run("start")
      await imported(home)
      const { pid } = home.registration()
      const before = cpuMs(pid)
      await written(read, beside)
      daemonMs += cpuMs(pid) - before
      missing = await missingAfter(home, read.result().commits.count)
      await home.run("stop")
    }
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 2 === 0) await whileRead()
      await written(alone, aloneBeside)
      if (round % 2 === 1) await whileRead()
    }
    rows.push(...comparison(alone.result(), read.result(), beside.result()))
    rows.push(
      { what: "committed and not in the archive", value: missing, bar: "0", holds: missing === 0 },
      // It reads all the while, or the comparison says nothing.
      { what: "daemon that reads it, % of a core", value: round(daemonMs / (SECONDS * ROUNDS * 10), 1) },
      { what: "load average", value: round(loadavg()[0]!, 2) },
    )
    details.writing = { alone: alone.result(), read: read.result(), beside: beside.result() }
  } finally {
    for (const writer of [alone, aloneBeside, read, beside]) writer.close()
    await home.dispose()
  }
}

function comparison(alone: Writing, read: Writing, beside: Writing): Row[] {
  const grown = round(read.commits.p99 - alone.commits.p99)
  const busy = alone.busy + read.busy
  const isBounded = read.logResets > 0 && read.logMb <= alone.logMb * MOST_LOG_GROWTH
  const times = ({ p50, p95, p99, max }: Summary) => [p50, p95, p99, max].map((ms) => round(ms, 2)).join(" / ")
  return [
    { what: `${alone.commits.count} commits alone p50 / p95 / p99 / max ms`, value: times(alone.commits) },
    { what: `${read.commits.count} commits while read p50 / p95 / p99 / max ms`, value: times(read.commits) },
    { what: "meanwhile where nobody reads p50 / p95 / p99 / max ms", value: times(beside.commits) },
    { what: "p99 of a commit grows by ms", value: grown, bar: `≤ ${MOST_GROWTH_MS}`, holds: grown <= MOST_GROWTH_MS },
    { what: "SQLITE_BUSY of a writer that never waits", value: busy, bar: "0", holds: busy === 0 },
    { what: "most MB of its log, alone", value: alone.logMb },
    {
      what: "most MB of its log, while read",
      value: read.logMb,
      bar: `≤ ${MOST_LOG_GROWTH} × alone`,
      holds: isBounded,
    },
    { what: "restarts of its log, alone / while read", value: `${alone.logResets} / ${read.logResets}` },
  ]
}

async function missingAfter(home: TestHome, expected: number): Promise<number> {
  for (const untilMs = performance.now() + PATIENCE_MS; performance.now() < untilMs; await sleep(200))
    if (archived(home).turns >= expected) break
  return expected - archived(home).turns
}

/** As agents do it while an answer comes: small commits, one after the other, in turns. */
async function written(...writers: Writer[]): Promise<void> {
  for (const untilMs = performance.now() + SECONDS * 1000; performance.now() < untilMs; await sleep(PAUSE_MS)) {
    for (const writer of writers) writer.commit()
    writers.reverse()
  }
}

class Writer {
  readonly path: string
  readonly #db: DatabaseSync
  readonly #message: StatementSync
  readonly #part: StatementSync
  readonly #times: number[] = []
  #count = 0
  #busy = 0
  #logBytes = 0
  #logResets = 0
  #logAge: number | undefined

  constructor(path: string) {
    this.path = path
    const store = new OpencodeStore(path)
    store.session("ses_1", { directory: "/w", title: "Live", atMs: Date.now() })
    store.close()
    this.#db = new DatabaseSync(path)
    // It waits for nobody, so that every lock that is in its way shows.
    this.#db.exec("PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 0")
    this.#message = this.#db.prepare("INSERT OR IGNORE INTO message VALUES (?, 'ses_1', ?, ?, ?)")
    this.#part = this.#db.prepare("INSERT INTO part VALUES (?, ?, 'ses_1', ?, ?, ?)")
  }

  commit(): void {
    const [now, count] = [Date.now(), this.#count++]
    const messageId = `msg_${String(Math.floor(count / 25)).padStart(10, "0")}`
    const message = JSON.stringify({ role: "user", time: { created: now } })
    const part = JSON.stringify({ type: "text", text: `${count} ${"What is said. ".repeat(40)}` })
    const start = performance.now()
    try {
      this.#db.exec("BEGIN IMMEDIATE")
      this.#message.run(messageId, now, now, message)
      this.#part.run(`prt_${String(count).padStart(10, "0")}`, messageId, now, now, part)
      this.#db.exec("COMMIT")
      this.#times.push(performance.now() - start)
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
      this.#busy++
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
    }
    this.#lookAtLog()
  }

  result(): Writing {
    const commits = { ...summarize(this.#times), count: this.#times.length }
    return { commits, busy: this.#busy, logMb: round(this.#logBytes / 1e6, 2), logResets: this.#logResets }
  }

  close(): void {
    this.#db.close()
  }

  #lookAtLog(): void {
    const log = `${this.path}-wal`
    this.#logBytes = Math.max(this.#logBytes, statSync(log).size)
    const age = logAgeOf(log)
    if (this.#logAge !== undefined && age !== this.#logAge) this.#logResets++
    this.#logAge = age
  }
}

/** The log's header counts its restarts. */
function logAgeOf(path: string): number {
  const file = openSync(path, "r")
  try {
    const header = Buffer.alloc(16)
    readSync(file, header, 0, 16, 0)
    return header.readUInt32BE(12)
  } finally {
    closeSync(file)
  }
}

if (MEGABYTES > 0) await untouched()
await undisturbed()
report("neighbour", rows, details)
