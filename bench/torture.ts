// Agents write, rewind, move and rewrite their files while the capturing daemon is killed again and again.
// The final archive is compared, row by row, with that of an undisturbed daemon from the same files.
//   node bench/torture.ts [kills] [megabytes] [seed]
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { BIN, makeHome, type TestHome } from "../test/fixtures/daemon.ts"
import { claudeCode } from "./corpus/claude-code.ts"
import { cline } from "./corpus/cline.ts"
import { codex } from "./corpus/codex.ts"
import { geminiCli } from "./corpus/gemini-cli.ts"
import { opencode } from "./corpus/opencode.ts"
import { makeRandom, type Random } from "./corpus/random.ts"
import { writeCorpus } from "./corpus.ts"
import { report, round } from "./lib.ts"

export interface TortureOptions {
  kills: number
  bytes: number
  seed: number
  /** Told after each kill. */
  onKill?(count: number): void
}

export interface TortureResult {
  kills: number
  seconds: number
  bytes: number
  /** What was done to the files, by kind. */
  deeds: Record<string, number>
  /** Turns that an undisturbed daemon has. */
  rows: number
  /** Turns that were kept when the last daemon had been killed, before anything could be made good. */
  rowsUnderFire: number
  /** Of those, what is not there, and what is there otherwise. */
  lost: string[]
  torn: string[]
  /** The same words at the same moment more often than they were said. */
  duplicates: string[]
  /** Superseded turns that an undisturbed daemon could never see: they were written, read and rewound in between. */
  between: number
  /** Stored turns that are neither in the files nor known as rewound. */
  strays: string[]
  /** Sessions whose counts are not those of their turns. */
  miscounted: string[]
  integrity: string[]
  /** Daemons that exited on their own. */
  gaveUp: string[]
}

const PLATFORMS = [claudeCode, codex, geminiCli, opencode, cline]
/** So much of the files is there before the first daemon starts. */
const AT_FIRST = 0.35
/** What exists for a while only carries it, so that it is known when it is found. */
const TAKEN_BACK = "Taken back soon after:"

export async function torture(options: TortureOptions): Promise<TortureResult> {
  const startMs = performance.now()
  const staging = mkdtempSync(join(tmpdir(), "torture-"))
  const home = makeHome()
  const deeds: Record<string, number> = {}
  try {
    writeCorpus(staging, {
      bytes: options.bytes,
      seed: options.seed,
      platforms: PLATFORMS,
      untilMs: Date.now() - 3_600_000,
    })
    const random = makeRandom(options.seed + 1)
    const agents = makeAgents(staging, home.env.HOME!, random, (deed) => {
      deeds[deed] = (deeds[deed] ?? 0) + 1
    })
    const gaveUp = await killing(home, agents, random, options)
    agents.goTo(1)
    agents.end()
    const rowsUnderFire = keptSoFar(home, staging)
    await home.json("import")
    await home.json("import")
    await home.run("stop")
    const calm = makeHome({ HOME: home.env.HOME! })
    try {
      await calm.json("import")
      await calm.run("stop")
      const compared = compare(archiveOf(home), archiveOf(calm))
      const seconds = round((performance.now() - startMs) / 1000, 1)
      return { kills: options.kills, seconds, bytes: agents.total, rowsUnderFire, deeds, gaveUp, ...compared }
    } finally {
      await calm.dispose()
    }
  } finally {
    await home.dispose()
    rmSync(staging, { recursive: true, force: true })
  }
}

async function killing(home: TestHome, agents: Agents, random: Random, options: TortureOptions): Promise<string[]> {
  const gaveUp: string[] = []
  agents.goTo(AT_FIRST)
  // The first few meet the import of existing files, with nothing new being written.
  const calmKills = Math.ceil(options.kills / 20)
  for (let kill = 0; kill < options.kills; kill++) {
    const daemon = startDaemon(home)
    let said = ""
    daemon.stderr?.on("data", (chunk) => {
      said += chunk
    })
    // One in five dies before it is up, or as it opens its files.
    const isEarly = random.chance(0.2)
    let lifeMs = random.below(isEarly ? 200 : 400)
    const writing = kill >= calmKills
    const share = (kill - calmKills) / (options.kills - calmKills)
    const startMs = performance.now()
    let upMs = isEarly ? startMs : undefined
    while (daemon.exitCode === null && (upMs === undefined || performance.now() < upMs + lifeMs)) {
      const passed = Math.min(1, (performance.now() - startMs) / 400)
      if (writing) agents.goTo(AT_FIRST + (1 - AT_FIRST) * (share + passed / (options.kills - calmKills)))
      await sleep(1 + random.below(12))
      if (upMs !== undefined || !isUp(home, daemon)) continue
      upMs = performance.now()
      // Where starting takes long, so does reading.
      lifeMs *= Math.max(1, (upMs - startMs) / 200)
    }
    if (daemon.exitCode !== null) gaveUp.push(`exit ${daemon.exitCode}: ${said}`)
    else {
      daemon.kill("SIGKILL")
      await once(daemon, "exit")
    }
    options.onKill?.(kill + 1)
  }
  return gaveUp
}

function startDaemon(home: TestHome): ChildProcess {
  return spawn(process.execPath, [BIN, "daemon"], {
    env: home.env,
    cwd: home.env.HOME!,
    stdio: ["ignore", "ignore", "pipe"],
  })
}

/** On a machine that has much to do that takes a while. */
function isUp(home: TestHome, daemon: ChildProcess): boolean {
  try {
    return home.registration().pid === daemon.pid
  } catch {
    return false
  }
}

/** Looks at a copy: whoever opens the files of a daemon that was killed tidies them up. */
function keptSoFar(home: TestHome, folder: string): number {
  for (const end of ["", "-wal"]) {
    const path = join(home.dir, `throughline.db${end}`)
    if (existsSync(path)) copyFileSync(path, join(folder, `copy.db${end}`))
  }
  const db = new DatabaseSync(join(folder, "copy.db"))
  try {
    return Number(db.prepare("SELECT count(*) AS turns FROM turns").get()!.turns)
  } finally {
    db.close()
  }
}

/** All agents of a machine, who write down a history that is known beforehand. */
interface Agents {
  total: number
  /** Writes on until this share of all bytes is there. */
  goTo(share: number): void
  /** Ends what is still open. */
  end(): void
}

/** One file, or database, that is being written. */
interface Writer {
  bytes: number
  written(): number
  /** Does something; at the end of its bytes it must come to rest with its final content. */
  step(): void
  isDone(): boolean
}

type Note = (deed: string) => void

function makeAgents(staging: string, homeDir: string, random: Random, note: Note): Agents {
  const writers: Writer[] = []
  for (const name of readdirSync(staging, { recursive: true, encoding: "utf8" }).sort()) {
    const [from, to] = [join(staging, name), join(homeDir, name)]
    if (name.endsWith(".jsonl") || name.endsWith(".jsonl.zst")) writers.push(lineWriter(from, to, random, note))
    else if (name.endsWith(".messages.json")) writers.push(wholeWriter(from, to, random, note))
    else if (name.endsWith("opencode.db")) writers.push(databaseWriter(from, to, random, note))
    else if (/\.(json|txt)$|\.project_root$/.test(name)) copy(from, to)
  }
  const total = writers.reduce((sum, { bytes }) => sum + bytes, 0)
  // A few live at a time; the others come when one of these is done.
  const waiting = writers.toSorted(() => random.next() - 0.5)
  const live: Writer[] = []
  let doneBytes = 0
  return {
    total,
    goTo(share) {
      while (doneBytes + live.reduce((sum, writer) => sum + writer.written(), 0) < total * share) {
        while (live.length < 6 && waiting.length > 0) live.push(waiting.pop()!)
        const writer = live[random.below(live.length)]
        if (!writer) return
        writer.step()
        if (!writer.isDone()) continue
        doneBytes += writer.bytes
        live.splice(live.indexOf(writer), 1)
      }
    },
    end() {
      for (const writer of [...live, ...waiting]) while (!writer.isDone()) writer.step()
    },
  }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
}

let takenBack = 0

/** Grows in pieces that end anywhere. Now and then the end is cut off, or the file is rewritten or replaced. */
function lineWriter(from: string, finalPath: string, random: Random, note: Note): Writer {
  const isPacked = from.endsWith(".zst")
  const content = isPacked ? zstdDecompressSync(readFileSync(from)) : readFileSync(from)
  const plainPath = isPacked ? finalPath.slice(0, -".zst".length) : finalPath
  const isCodex = from.includes("/.codex/")
  // In a log of operations a record that is missing changes what the others mean.
  const isGemini = from.includes("/.gemini/")
  const moves = isCodex && !isPacked && random.chance(0.5)
  // It is written where the others are, and put away in the end.
  const path = moves && plainPath.includes("archived_sessions") ? movedFrom(plainPath) : plainPath
  const endPath = moves && !plainPath.includes("archived_sessions") ? archivedFrom(plainPath) : plainPath
  const atOnce = random.chance(0.2)
  let at = 0
  /** How much of it is there again, while it is rewritten piece by piece. */
  let restored: number | undefined
  let [hasGhosts, hasGap, isDone] = [false, false, false]
  mkdirSync(dirname(path), { recursive: true })
  const whole = (bytes: Buffer) => {
    if (random.chance(0.5)) {
      writeFileSync(path, bytes)
      note("rewritten")
    } else {
      writeFileSync(`${path}.tmp`, bytes)
      renameSync(`${path}.tmp`, path)
      note("put in its place")
    }
  }
  const ghosts = (upTo: Buffer) =>
    Array.from({ length: 1 + random.below(3) }, () => ghostOf(upTo, random))
      .filter((line) => line !== undefined)
      .map((line) => `${line}\n`)
      .join("")
  return {
    bytes: content.length,
    written: () => (isDone ? content.length : Math.min(at, content.length - 1)),
    isDone: () => isDone,
    step() {
      if (restored !== undefined) {
        const next = Math.min(at, restored + Math.ceil(at / 4))
        appendFileSync(path, content.subarray(restored, next))
        restored = next === at ? undefined : next
        return
      }
      if (hasGap) {
        hasGap = false
        whole(content.subarray(0, at))
        return
      }
      if (hasGhosts) {
        hasGhosts = false
        if (random.chance(0.6)) {
          truncateSync(path, at)
          note("cut off")
        } else whole(content.subarray(0, at))
        return
      }
      if (at === content.length) {
        if (isPacked) {
          writeFileSync(`${path}.zst`, zstdCompressSync(content))
          rmSync(path)
          note("packed")
        } else if (endPath !== path) {
          mkdirSync(dirname(endPath), { recursive: true })
          renameSync(path, endPath)
          note("moved")
        }
        isDone = true
        return
      }
      const next = atOnce ? content.length : Math.min(content.length, at + random.size(1500, 1.5))
      appendFileSync(path, content.subarray(at, next))
      note(atOnce ? "dropped whole" : "appended")
      at = next
      // A source is known by its path: what was read under the old one and is not in the moved file stays as it was.
      if (atOnce || moves || !random.chance(0.08)) return
      // Rewound turns come after a whole line.
      const lineEnd = content.indexOf(10, at) + 1 || content.length
      appendFileSync(path, content.subarray(at, lineEnd))
      at = lineEnd
      if (random.chance(0.2)) {
        truncateSync(path, 0)
        restored = 0
        note("emptied and written again")
        return
      }
      const gap = isGemini || random.chance(0.7) ? undefined : gapIn(content.subarray(0, at), random)
      if (gap) {
        whole(gap)
        hasGap = true
        note("a record left out for a while")
        return
      }
      const lines = ghosts(content.subarray(0, at))
      if (random.chance(0.3)) whole(Buffer.concat([content.subarray(0, at), Buffer.from(lines)]))
      else appendFileSync(path, lines)
      hasGhosts = true
    },
  }
}

function movedFrom(path: string): string {
  const [, year, month, day] = /rollout-(\d{4})-(\d\d)-(\d\d)/.exec(path)!
  return join(dirname(dirname(path)), "sessions", year!, month!, day!, basename(path))
}

const archivedFrom = (path: string) =>
  join(path.slice(0, path.indexOf("/sessions/")), "archived_sessions", basename(path))

/** Without one of its records, though not one of the first, which say what the others belong to. */
function gapIn(content: Buffer, random: Random): Buffer | undefined {
  const lines = content.toString("utf8").split("\n")
  const isTurn = (line: string) => /^\{.*"(user|assistant|response_item)"/.test(line.slice(0, 2000))
  const candidates = lines.flatMap((line, index) => (index > 5 && isTurn(line) ? [index] : []))
  if (candidates.length === 0) return undefined
  return Buffer.from(lines.toSpliced(random.pick(candidates), 1).join("\n"))
}

/** A record like the last of its kind, but another. */
function ghostOf(upTo: Buffer, random: Random): string | undefined {
  const words = `${TAKEN_BACK} ${++takenBack}, ça va, 湖`
  const lines = upTo.subarray(-200_000).toString("utf8").split("\n").slice(1)
  const records = lines.flatMap((line) => {
    try {
      return [JSON.parse(line)]
    } catch {
      return []
    }
  })
  const like = records.findLast(
    (record) =>
      (record.type === "user" && (typeof record.message?.content === "string" || Array.isArray(record.content))) ||
      (record.type === "response_item" && record.payload.role === "user"),
  )
  if (!like) return undefined
  const id = random.uuid()
  if (like.payload) like.payload.content = [{ type: "input_text", text: words }]
  else if (like.message) Object.assign(like, { uuid: id, message: { role: "user", content: words } })
  else Object.assign(like, { id, content: [{ text: words }] })
  return JSON.stringify(like)
}

/** Rewritten in place with each message: a reader may meet half of it. Some messages are removed again. */
function wholeWriter(from: string, path: string, random: Random, note: Note): Writer {
  const content = readFileSync(from, "utf8")
  const { messages, ...rest } = JSON.parse(content) as { messages: { id: string; content: object[] }[] }
  const step = Math.max(1, Math.ceil(messages.length / 25))
  let [count, isDone] = [0, false]
  mkdirSync(dirname(path), { recursive: true })
  return {
    bytes: content.length,
    written: () => (isDone ? content.length : Math.floor((content.length - 1) * (count / (messages.length + 1)))),
    isDone: () => isDone,
    step() {
      count = Math.min(messages.length, count + 1 + random.below(step))
      isDone = count === messages.length
      const text = `${TAKEN_BACK} ${++takenBack}`
      const ghost = { ...messages[0], id: `ghost-${takenBack}`, content: [{ type: "text", text }] }
      const withGhost = !isDone && random.chance(0.3)
      const now = [...messages.slice(0, count), ...(withGhost ? [ghost] : [])]
      writeFileSync(path, isDone ? content : JSON.stringify({ ...rest, messages: now }))
      note(withGhost ? "JSON with rewound turns" : "JSON rewritten")
    },
  }
}

/** Rows come one by one, and some grow in place. The times of changes are those at which they happen. */
function databaseWriter(from: string, path: string, random: Random, note: Note): Writer {
  const staged = new DatabaseSync(from)
  const rows = (table: string) => staged.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all() as unknown as DbRow[]
  const schema = staged.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").all() as { sql: string }[]
  const [sessions, messages, parts] = [rows("session"), rows("message"), rows("part")]
  staged.close()
  const bytes = parts.reduce((sum, { data }) => sum + data.length, 0)
  let db: DatabaseSync | undefined
  let [next, written] = [0, 0]
  const isThere = new Set<string>()
  const growing = new Map<string, DbRow>()
  const insert = (table: string, row: DbRow) => {
    const values = Object.values({ ...row, time_updated: Date.now() })
    db!.prepare(`INSERT INTO ${table} VALUES (${values.map(() => "?").join(", ")})`).run(...(values as string[]))
  }
  const open = () => {
    mkdirSync(dirname(path), { recursive: true })
    const isNew = !existsSync(path)
    db = new DatabaseSync(path)
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000")
    if (isNew) for (const { sql } of schema) db.exec(sql)
  }
  return {
    bytes,
    written: () => Math.min(written, bytes - 1),
    isDone: () => db === undefined && next === parts.length && growing.size === 0,
    step() {
      if (!db) open()
      db!.exec("BEGIN IMMEDIATE")
      for (const [id, part] of growing) {
        db!.prepare("UPDATE part SET data = ?, time_updated = ? WHERE id = ?").run(part.data, Date.now(), id)
        note("row changed")
      }
      growing.clear()
      for (let more = 1 + random.below(6); more > 0 && next < parts.length; more--) {
        const part = parts[next++]!
        for (const [table, all, id] of [
          ["session", sessions, part.session_id],
          ["message", messages, part.message_id],
        ] as const) {
          if (isThere.has(id)) continue
          isThere.add(id)
          insert(table, all.find((row) => row.id === id)!)
        }
        const data = JSON.parse(part.data) as { type: string; text?: string }
        const grows = data.text !== undefined && random.chance(0.3)
        if (grows) growing.set(part.id, part)
        const half = grows && JSON.stringify({ ...data, text: data.text!.slice(0, data.text!.length / 2) })
        insert("part", half ? { ...part, data: half } : part)
        db!.prepare("UPDATE session SET time_updated = ? WHERE id = ?").run(Date.now(), part.session_id)
        written += part.data.length
        note("row added")
      }
      db!.exec("COMMIT")
      // The agent ends now and then: its write-ahead log goes with it.
      if ((next < parts.length || growing.size > 0) && !random.chance(0.02)) return
      db!.close()
      db = undefined
    },
  }
}

interface DbRow {
  id: string
  session_id: string
  message_id: string
  data: string
}

interface Kept {
  key: string
  /** All that is known of it, as text. */
  facts: Record<string, unknown>
  superseded: boolean
  words: string
}

interface KeptArchive {
  turns: Map<string, Kept>
  sessions: Map<string, { turns: number; prompts: number }>
  counted: Map<string, { turns: number; prompts: number }>
  integrity: string[]
}

function archiveOf(home: TestHome): KeptArchive {
  const db = new DatabaseSync(join(home.dir, "throughline.db"), { readOnly: true })
  try {
    const turns = new Map<string, Kept>()
    const counted = new Map<string, { turns: number; prompts: number }>()
    const rows = db
      .prepare(
        `SELECT s.platform, s.native_id AS session, t.native_id AS turn, t.kind, t.text, t.at_ms, t.model, t.tool_name,
           t.tool_call_id, t.is_error, t.is_fallback, t.usage, t.superseded_at_ms IS NOT NULL AS superseded
         FROM turns t JOIN sessions s ON s.id = t.session_id ORDER BY t.seq`,
      )
      .all() as Record<string, string | number | null>[]
    for (const { platform, session, turn, superseded, ...facts } of rows) {
      const [owner, key] = [`${platform} ${session}`, `${platform} ${session} ${turn}`]
      const words = `${owner} ${facts.kind} ${facts.at_ms} ${facts.text}`
      turns.set(turns.has(key) ? `${key} again` : key, { key, facts, superseded: superseded === 1, words })
      const count = counted.get(owner) ?? { turns: 0, prompts: 0 }
      counted.set(owner, count)
      if (superseded === 1) continue
      count.turns++
      if (facts.kind === "prompt") count.prompts++
    }
    const sessions = new Map(
      db
        .prepare("SELECT platform, native_id, turn_count, prompt_count FROM sessions")
        .all()
        .map((row) => [
          `${row.platform} ${row.native_id}`,
          { turns: Number(row.turn_count), prompts: Number(row.prompt_count) },
        ]),
    )
    const integrity = db
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => String(row.integrity_check))
    return { turns, sessions, counted, integrity }
  } finally {
    db.close()
  }
}

function compare(found: KeptArchive, expected: KeptArchive) {
  const [lost, torn, strays, miscounted]: string[][] = [[], [], [], []]
  for (const [key, { facts, superseded }] of expected.turns) {
    const there = found.turns.get(key)
    if (!there) lost!.push(key)
    else if (JSON.stringify(there.facts) !== JSON.stringify(facts) || there.superseded !== superseded)
      torn!.push(`${key}: ${differences({ ...facts, superseded }, { ...there.facts, superseded: there.superseded })}`)
  }
  for (const session of expected.sessions.keys()) if (!found.sessions.has(session)) lost!.push(session)
  let between = 0
  for (const [key, { facts, superseded }] of found.turns) {
    if (expected.turns.has(key)) continue
    if (superseded && String(facts.text).startsWith(TAKEN_BACK)) between++
    else strays!.push(`${key}: ${String(facts.text).slice(0, 60)}${superseded ? " (superseded)" : ""}`)
  }
  const timesSaid = (archive: KeptArchive) => {
    const times = new Map<string, number>()
    for (const { words } of archive.turns.values()) times.set(words, (times.get(words) ?? 0) + 1)
    return times
  }
  const said = timesSaid(expected)
  const duplicates = [...timesSaid(found)]
    .filter(([words, times]) => times > (said.get(words) ?? 1))
    .map(([words]) => words.slice(0, 200))
  for (const [session, { turns, prompts }] of found.sessions) {
    const real = found.counted.get(session) ?? { turns: 0, prompts: 0 }
    if (turns !== real.turns || prompts !== real.prompts)
      miscounted!.push(`${session}: ${turns}/${prompts}, not ${real.turns}/${real.prompts}`)
  }
  return {
    rows: expected.turns.size,
    lost: lost!,
    torn: torn!,
    strays: strays!,
    miscounted: miscounted!,
    duplicates,
    between,
    integrity: found.integrity,
  }
}

function differences(expected: Record<string, unknown>, found: Record<string, unknown>): string {
  return Object.keys(expected)
    .filter((field) => expected[field] !== found[field])
    .map((field) => `${field} ${String(found[field]).slice(-60)} instead of ${String(expected[field]).slice(-60)}`)
    .join(", ")
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , kills = "500", megabytes = "15", seed = "1"] = process.argv
  const startMs = performance.now()
  const result = await torture({
    kills: Number(kills),
    bytes: Number(megabytes) * 1e6,
    seed: Number(seed),
    onKill: (count) => {
      if (count % 50 === 0) console.log(`${count} kills, ${round((performance.now() - startMs) / 1000, 0)} s`)
    },
  })
  const none = (what: string, list: string[]) => ({ what, value: list.length, bar: "0", holds: list.length === 0 })
  report(
    "torture",
    [
      { what: "kills", value: result.kills },
      { what: "seconds", value: result.seconds },
      { what: "MB of files", value: round(result.bytes / 1e6, 1) },
      { what: "turns compared", value: result.rows },
      { what: "kept before the last import", value: result.rowsUnderFire },
      none("lost", result.lost),
      none("duplicates", result.duplicates),
      none("torn or otherwise", result.torn),
      none("neither in the files nor taken back", result.strays),
      { what: "kept, taken back in between", value: result.between },
      none("sessions that count wrong", result.miscounted),
      none("daemons that gave up", result.gaveUp),
      { what: "integrity_check", value: result.integrity.join(), bar: "ok", holds: result.integrity.join() === "ok" },
    ],
    {
      deeds: result.deeds,
      ...Object.fromEntries(
        (["lost", "duplicates", "torn", "strays", "miscounted", "gaveUp"] as const).map((what) => [
          what,
          result[what].slice(0, 20),
        ]),
      ),
    },
  )
}
