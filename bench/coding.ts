// Which conversation made this change? The query is a commit's subject, the answer is the exchange that made it, among
// others on the same files and names. Uses the product's own index and search, within the project and across all.
//   node bench/coding.ts
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import Database from "better-sqlite3"
import { newSessionId } from "../src/domain/ids.ts"
import type { Store } from "../src/domain/store.ts"
import { type MadeExchange, makeProjects } from "./corpus/exchanges.ts"
import { ExactBm25 } from "./exact.ts"
import { type Row, report } from "./lib.ts"
import { type Answered, qualityOf } from "./metrics.ts"
import { keep, openPlace, type Place } from "./search-fill.ts"
import { withoutStopWords, wordsOf } from "./search-queries.ts"
import { openTarget } from "./search-target.ts"

const KS = [1, 5, 10]
const DEPTH = 10

interface Kept {
  root: string
  exchange: number
  made: MadeExchange
}
type Find = (query: string, root: string | undefined) => Promise<number[]>

const folder = mkdtempSync(join(tmpdir(), "throughline-coding-"))
try {
  const place: Place = { kind: "sqlite", path: join(folder, "throughline.db") }
  const store = await openPlace(place)
  const kept = await fill(store)
  const systems: Record<string, Find> = {
    "BM25, everything said and done": plainBm25(kept, ({ turns }) => turns.map(({ text }) => text).join("\n")),
    "BM25, prompt and replies": plainBm25(kept, proseOf),
    "FTS5 porter OR, prompt and replies": fts5(kept),
  }
  const rows: Row[] = [{ what: `R@${KS.join("/")} and nDCG@10: in the project | over all`, value: "" }]
  const details: Record<string, unknown> = { exchanges: kept.length }
  const measure = async (name: string, find: Find) => {
    const [project, global] = [await ask(kept, find, true), await ask(kept, find, false)]
    details[name] = { project, global }
    details.queries = project.n
    rows.push({ what: name, value: `${line(project)} | ${line(global)}` })
  }
  for (const [name, find] of Object.entries(systems)) await measure(name, find)
  for (const vectors of [false, true]) {
    const target = await openTarget({ store, place, vectors })
    await measure(vectors ? "Throughline with vectors" : "Throughline", async (query, root) => {
      const filter = root === undefined ? {} : { filter: { root } }
      const found = await target.search({ query, limit: DEPTH, unit: "exchange", ...filter })
      return found.map(({ exchange }) => exchange)
    })
    await target.close()
  }
  rows.push(...ratios(details), { what: "exchanges, queries", value: `${kept.length}, ${details.queries}` })
  await store.close()
  report("coding", rows, details)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function fill(store: Store): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const { root, sessions } of makeProjects()) {
    await store.transaction(async (tx) => {
      const project = await tx.projects.ensure(pathToFileURL(root).href, 0)
      for (const [number, { startMs, exchanges }] of sessions.entries()) {
        const id = newSessionId()
        await tx.sessions.create({
          id,
          platform: "claude-code",
          nativeId: `${root}-${number}`,
          projectId: project.id,
          title: `Session ${number + 1}`,
          tags: [],
          key: null,
          createdAtMs: startMs,
        })
        let atMs = startMs
        for (const [i, made] of exchanges.entries()) {
          const fromMs = atMs
          const turns = made.turns.map((turn, j) => ({ ...turn, nativeId: `${i}-${j}`, atMs: fromMs + j * 20_000 }))
          atMs += turns.length * 20_000
          const [exchange] = await keep(tx, id, turns)
          kept.push({ root, exchange: exchange!, made })
        }
      }
    })
  }
  return kept
}

async function ask(kept: Kept[], find: Find, inProject: boolean) {
  const answers: Answered[] = []
  for (const { root, exchange, made } of kept) {
    if (made.subject === undefined) continue
    const found = await find(made.subject, inProject ? root : undefined)
    answers.push({ found, wanted: new Set([exchange]) })
  }
  return qualityOf(answers, KS)
}

/** The part of an exchange that people read. */
function proseOf({ turns }: MadeExchange): string {
  const said = turns.filter(({ kind }) => kind === "prompt" || kind === "reply")
  return said
    .map(({ text }) => text)
    .join("\n")
    .replaceAll(/```[\s\S]*?```/g, "")
}

function plainBm25(kept: Kept[], textOf: (made: MadeExchange) => string): Find {
  const index = new ExactBm25()
  for (const { made } of kept) {
    const words = wordsOf(textOf(made))
    index.add(new Map([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length])), words.length)
  }
  return async (query, root) => {
    const accept = (doc: number) => root === undefined || kept[doc]!.root === root
    return index.top(wordsOf(query), DEPTH, accept).map(({ doc }) => kept[doc]!.exchange)
  }
}

function fts5(kept: Kept[]): Find {
  const db = new Database(":memory:")
  db.exec("create virtual table words using fts5(text, root unindexed, tokenize='porter unicode61')")
  const insert = db.prepare("insert into words(rowid, text, root) values (?, ?, ?)")
  for (const { exchange, made, root } of kept) insert.run(exchange, proseOf(made), root)
  const find = db.prepare(
    `select rowid as exchange from words where words match ? and (? is null or root = ?) order by bm25(words) limit ${DEPTH}`,
  )
  return async (query, root) => {
    const words = withoutStopWords(query.match(/[\p{L}\p{N}]+/gu) ?? [])
    const match = words.map((word) => `"${word}"`).join(" OR ")
    return (find.all(match, root ?? null, root ?? null) as { exchange: number }[]).map(({ exchange }) => exchange)
  }
}

type Figures = Awaited<ReturnType<typeof ask>>

function line(quality: Figures): string {
  return [...KS.map((k) => quality[`r${k}`]!), quality.ndcg10].map((figure) => figure.toFixed(1).padStart(5)).join(" ")
}

/** Our score relative to the best peer. */
function ratios(details: Record<string, unknown>): Row[] {
  const of = (name: string) => (details[name] as { project: Figures }).project
  const [ours, peer] = [of("Throughline"), of("FTS5 porter OR, prompt and replies")]
  const ratio = (k: 1 | 10) => (ours[`r${k}`]! / peer[`r${k}`]!).toFixed(2)
  return [{ what: "R@1 / R@10 in the project, of FTS5", value: `${ratio(1)} / ${ratio(10)}` }]
}
