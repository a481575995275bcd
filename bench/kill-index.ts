// Kills a process that adds, writes and merges, again and again, and looks whether anything is missing, double or otherwise:
//   node bench/kill-index.ts [kills] [seed]
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import Database from "better-sqlite3"
import { type Engine, type NewDoc, openEngine } from "../src/search/index/engine.ts"
import { sqliteIndex } from "../src/store/dialects/index-sqlite.ts"
import { docOf, makeQueries, randomOf, refsOf, wordAt, workAll } from "../test/fixtures/indexed.ts"
import { report, round } from "./lib.ts"

const AT_ONCE = 37
const EDIT_EVERY = 10
const CHECKED_WORDS = 60
/** A life ends after up to so many signs of it, and so long after the last of them: as much work, however busy the machine is. */
const MOST_SIGNS = 30
const MOST_MS = 30

export interface KillResult {
  kills: number
  entries: number
  /** Lives that ended while a segment was half written, merged or dropped. */
  withOrphans: number
  wrong: string[]
}

export async function killIndex({ kills, seed = 1 }: { kills: number; seed?: number }): Promise<KillResult> {
  const folder = mkdtempSync(join(tmpdir(), "throughline-kill-index-"))
  const path = join(folder, "index.db")
  const random = randomOf(seed)
  const wrong: string[] = []
  let withOrphans = 0
  let entries = 0
  let reached = 0
  try {
    for (let kill = 0; kill < kills; kill++) {
      reached = Math.max(reached, (await oneLife(path, random() * MOST_SIGNS, random() * MOST_MS)) + AT_ONCE)
      const tables = sqliteIndex({ path })
      const engine = openEngine(tables)
      const { position } = engine.facts()
      const [listed, withPostings] = [tables.segments(), tables.segmentsWithPostings()]
      if (withPostings.length > listed.length) withOrphans++
      if (position < entries) wrong.push(`kill ${kill}: went back from ${entries} to ${position}`)
      entries = position
      if (engine.facts().documents > latest(position).size) wrong.push(`kill ${kill}: something is there twice`)
      // What the journal has above the position is added again. Until then, a document that was to be replaced may be missing.
      for (let entry = position + 1; entry <= reached; entry++) engine.add([docOfEntry(entry)], entry)
      wrong.push(...differences(engine, reached, random).map((what) => `kill ${kill}: ${what}`))
      engine.close()
      const db = new Database(path)
      const sound = db.pragma("quick_check(1)", { simple: true })
      db.close()
      if (sound !== "ok") wrong.push(`kill ${kill}: ${sound}`)
    }
    const survivor = openEngine(sqliteIndex({ path }))
    const rebuilt = openEngine(sqliteIndex({ path: join(folder, "rebuilt.db") }))
    for (const engine of [survivor, rebuilt])
      for (let entry = engine.facts().position + 1; entry <= reached; entry++) engine.add([docOfEntry(entry)], entry)
    const docs = [...latest(reached).values()].map(docOfEntry)
    const queries = docs.length === 0 ? [] : makeQueries(200, docs)
    for (const engine of [survivor, rebuilt]) {
      workAll(engine)
      await engine.purge()
    }
    for (const [at, query] of queries.entries()) {
      const [one, other] = [survivor.search(query), rebuilt.search(query)]
      if (JSON.stringify(one) !== JSON.stringify(other))
        wrong.push(`query ${at} finds something else than in a new index`)
    }
    for (const engine of [survivor, rebuilt]) engine.close()
    return { kills, entries, withOrphans, wrong }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What the journal says at this number: mostly a new document, now and then another text for an old one. */
function docOfEntry(entry: number): NewDoc {
  const random = randomOf(entry)
  const text = Array.from({ length: 20 + Math.floor(random() * 60) }, () => wordAt(random)).join(" ")
  return docOf(refOf(entry), `u${entry} ${text}`, { sessionId: `session-${refOf(entry) >> 6}` })
}

const refOf = (entry: number) => (entry % EDIT_EVERY === 0 ? Math.floor(randomOf(entry)() * (entry - 1)) + 1 : entry)

function latest(entries: number): Map<number, number> {
  const found = new Map<number, number>()
  for (let entry = 1; entry <= entries; entry++) found.set(refOf(entry), entry)
  return found
}

function differences(engine: Engine, entries: number, random: () => number): string[] {
  const wrong: string[] = []
  const expected = latest(entries)
  const { documents } = engine.facts()
  if (documents !== expected.size) wrong.push(`${documents} documents instead of ${expected.size}`)
  for (const ref of expected.keys()) if (!engine.has(ref)) wrong.push(`${ref} is missing`)
  for (let time = 0; time < CHECKED_WORDS && entries > 0; time++) {
    const entry = 1 + Math.floor(random() * entries)
    const refs = refsOf(engine.search({ words: [{ word: `u${entry}`, weight: 1 }], limit: 5 }))
    const right = expected.get(refOf(entry)) === entry ? [refOf(entry)] : []
    if (refs.join() !== right.join()) wrong.push(`entry ${entry} is found as [${refs}] instead of [${right}]`)
  }
  return wrong
}

/** The last entry that was surely added. */
async function oneLife(path: string, signs: number, moreMs: number): Promise<number> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "live", path], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = once(child, "exit")
  let said = ""
  let seen = 0
  const due = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-100)
      seen += text.split("\n").length - 1
      if (seen > signs) resolve()
    })
  })
  const silent = once(child.stdout, "end")
  await Promise.race([due, ended])
  await sleep(moreMs)
  child.kill("SIGKILL")
  const [code] = (await ended) as [number | null]
  if (code !== null) throw new Error(`the process ended by itself with ${code}`)
  await silent
  return Number(said.trimEnd().split("\n").at(-1))
}

function live(path: string): never {
  const engine = openEngine(sqliteIndex({ path }))
  process.stdout.write(`${engine.facts().position}\n`)
  for (let entry = engine.facts().position; ; entry += AT_ONCE) {
    const docs = Array.from({ length: AT_ONCE }, (_, at) => docOfEntry(entry + at + 1))
    engine.add(docs, entry + AT_ONCE)
    process.stdout.write(`${entry + AT_ONCE}\n`)
    for (let batch = 0; batch < 20; batch++) engine.work({ idle: entry % 5 === 0 })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , first = "200", second = "1"] = process.argv
  if (first === "live") live(second)
  const startMs = performance.now()
  const result = await killIndex({ kills: Number(first), seed: Number(second) })
  report(
    "kill-index",
    [
      { what: "kills", value: result.kills },
      { what: "seconds", value: round((performance.now() - startMs) / 1000, 0) },
      { what: "journal entries kept", value: result.entries },
      { what: "lives that left something half done", value: result.withOrphans },
      { what: "missing, double or otherwise", value: result.wrong.length, bar: "0", holds: result.wrong.length === 0 },
    ],
    { wrong: result.wrong.slice(0, 50) },
  )
}
