// LoCoMo at turn level through the product's own index and search, with published figures and plain peers for comparison.
//   node bench/quality.ts <path to locomo json>
// A held-out set: nothing may be tuned on it, and none of its text is in the repository.
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import Database from "better-sqlite3"
import { newSessionId } from "../src/domain/ids.ts"
import type { Store } from "../src/domain/store.ts"
import { ExactBm25 } from "./exact.ts"
import { type Row, report } from "./lib.ts"
import { type Conversation, parseLocomo } from "./locomo.ts"
import { type Answered, type Quality, qualityOf } from "./metrics.ts"
import { keep, openPlace, type Place } from "./search-fill.ts"
import { withoutStopWords, wordsOf } from "./search-queries.ts"
import { openTarget } from "./search-target.ts"

const KS = [1, 5, 10, 25, 50]
const DEPTH = 50
/** R@5, 10, 25, 50 on all ten conversations: the paper's table 3, and the results repository of MTEB. */
const PUBLISHED = {
  "DRAGON (published)": [56.7, 66.2, 76.7, 82.7],
  "bm25s (published)": [54.2, 61.6, 70.6, 76.0],
  "all-MiniLM-L6-v2 (published)": [34.5, 43.9, 56.9, 68.4],
  "best of 89 models (published)": [69.8, 78.1, 86.0, 90.3],
}
const BAR = 70

const path = process.argv[2]
if (!path) throw new Error("usage: node bench/quality.ts <path to locomo json>")
const conversations = parseLocomo(readFileSync(path, "utf8"))
const folder = mkdtempSync(join(tmpdir(), "throughline-quality-"))
try {
  const place: Place = { kind: "sqlite", path: join(folder, "throughline.db") }
  const store = await openPlace(place)
  const turns = await fill(store, conversations)
  const systems: Record<string, Asked[]> = { "BM25 of the same words": plainBm25(turns), "FTS5 porter OR": fts5(turns) }
  for (const vectors of [false, true]) {
    const target = await openTarget({ store, place, vectors })
    systems[vectors ? "Throughline with vectors" : "Throughline"] = await askAll(turns, async (question, root) => {
      const found = await target.search({ query: question, limit: DEPTH, unit: "turn", filter: { root } })
      return found.map(({ seq }) => seq)
    })
    await target.close()
  }
  await store.close()
  print(systems)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

type Asked = Answered & { category: string }

interface Filled {
  conversation: Conversation
  root: string
  /** Turn number → text, in order. */
  texts: Map<number, string>
  seqOf: Map<string, number>
}

/** Each conversation is a project, each of its sessions a session; one speaker prompts, the other replies. */
async function fill(store: Store, conversations: Conversation[]): Promise<Filled[]> {
  const filled: Filled[] = []
  for (const conversation of conversations) {
    const root = `/locomo/${conversation.id}`
    const of: Filled = { conversation, root, texts: new Map(), seqOf: new Map() }
    await store.transaction(async (tx) => {
      const project = await tx.projects.ensure(pathToFileURL(root).href, 0)
      const asks = conversation.sessions[0]!.turns[0]!.speaker
      for (const [number, { atMs, turns }] of conversation.sessions.entries()) {
        const id = newSessionId()
        await tx.sessions.create({
          id,
          platform: "claude-code",
          nativeId: `${conversation.id}-${number}`,
          projectId: project.id,
          title: `Session ${number + 1}`,
          tags: [],
          key: null,
          createdAtMs: atMs,
        })
        const seqs = await keep(
          tx,
          id,
          turns.map(({ id, speaker, text }, i) => ({
            nativeId: id,
            kind: speaker === asks ? "prompt" : "reply",
            text,
            atMs: atMs + i * 1000,
            toolName: null,
          })),
        )
        for (const [i, seq] of seqs.entries()) {
          of.texts.set(seq, turns[i]!.text)
          of.seqOf.set(turns[i]!.id, seq)
        }
      }
    })
    filled.push(of)
  }
  return filled
}

async function askAll(turns: Filled[], find: (question: string, root: string) => Promise<number[]>): Promise<Asked[]> {
  const answers: Asked[] = []
  for (const { conversation, root, seqOf } of turns) {
    for (const { text, wanted, category } of conversation.questions) {
      const found = await find(text, root)
      answers.push({ found, wanted: new Set(wanted.map((id) => seqOf.get(id)!)), category })
    }
  }
  return answers
}

function plainBm25(turns: Filled[]): Asked[] {
  return turns.flatMap(({ conversation, texts, seqOf }) => {
    const seqs = [...texts.keys()]
    const index = new ExactBm25()
    for (const text of texts.values()) {
      const words = wordsOf(text)
      index.add(new Map([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length])), words.length)
    }
    return conversation.questions.map(({ text, wanted, category }) => ({
      found: index.top(wordsOf(text), DEPTH).map(({ doc }) => seqs[doc]!),
      wanted: new Set(wanted.map((id) => seqOf.get(id)!)),
      category,
    }))
  })
}

function fts5(turns: Filled[]): Asked[] {
  return turns.flatMap(({ conversation, texts, seqOf }) => {
    const db = new Database(":memory:")
    db.exec("create virtual table words using fts5(text, tokenize='porter unicode61')")
    const insert = db.prepare("insert into words(rowid, text) values (?, ?)")
    for (const [seq, text] of texts) insert.run(seq, text)
    const find = db.prepare(`select rowid as seq from words where words match ? order by bm25(words) limit ${DEPTH}`)
    const answers = conversation.questions.map(({ text, wanted, category }) => {
      const match = withoutStopWords(text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `"${word}"`)
      const rows = find.all(match.join(" OR ")) as { seq: number }[]
      return {
        found: rows.map(({ seq }) => seq),
        wanted: new Set(wanted.map((id) => seqOf.get(id)!)),
        category,
      }
    })
    db.close()
    return answers
  })
}

function print(systems: Record<string, Asked[]>): void {
  const line = (quality: Quality) =>
    `${KS.map((k) => quality[`r${k}`]!.toFixed(1).padStart(5)).join(" ")}  ${quality.ndcg10.toFixed(1).padStart(5)}`
  const rows: Row[] = [{ what: `R@${KS.join("/")} and nDCG@10`, value: "" }]
  const details: Record<string, unknown> = {
    questions: conversations.reduce((sum, { questions }) => sum + questions.length, 0),
    dropped: conversations.reduce((sum, { dropped }) => sum + dropped, 0),
  }
  for (const [name, figures] of Object.entries(PUBLISHED))
    rows.push({ what: name, value: `      ${figures.map((figure) => figure.toFixed(1).padStart(5)).join(" ")}       ` })
  for (const [name, answers] of Object.entries(systems)) {
    const all = qualityOf(answers, KS)
    const categories = [...Map.groupBy(answers, ({ category }) => category)].map(
      ([category, some]) => [category, qualityOf(some, KS)] as const,
    )
    const isOurs = name === "Throughline"
    rows.push({
      what: `${name} (n=${all.n})`,
      value: line(all),
      ...(isOurs ? { bar: `R@10 ≥ ${BAR}`, holds: all.r10! >= BAR } : {}),
    })
    if (name.startsWith("Throughline")) {
      for (const [category, quality] of categories.toSorted(([a], [b]) => a.localeCompare(b)))
        rows.push({ what: `  ${category} (n=${quality.n})`, value: line(quality) })
    }
    details[name] = { all, ...Object.fromEntries(categories) }
  }
  const [ours, floor] = [qualityOf(systems.Throughline!, KS), qualityOf(systems["BM25 of the same words"]!, KS)]
  rows.push(
    { what: "R@10, of BM25 in this run", value: (ours.r10! / floor.r10!).toFixed(2) },
    { what: "R@10, of DRAGON", value: (ours.r10! / PUBLISHED["DRAGON (published)"][1]!).toFixed(2) },
  )
  report("quality", rows, details)
}
