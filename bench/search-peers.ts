import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import type { Messages } from "./corpus/messages.ts"
import { type Row, round, summarize } from "./lib.ts"
import { seqOf } from "./search-fill.ts"
import type { KnownItem, LatencyQuery } from "./search-queries.ts"

export interface PeerOptions {
  folder: string
  messages: Messages
  sessions: number
  /** Without filters: neither peer supports them. */
  queries: LatencyQuery[]
  items: KnownItem[]
}

/** Plain SQLite FTS5: `porter unicode61`, words joined by OR, ranked by bm25. */
export function fts5Peer(options: PeerOptions): { rows: Row[]; p50: number; p99: number } {
  const path = join(options.folder, "fts5.db")
  const db = new Database(path)
  try {
    db.pragma("journal_mode = OFF")
    db.pragma("synchronous = OFF")
    db.exec("create virtual table words using fts5(text, content='', tokenize='porter unicode61')")
    const insert = db.prepare("insert into words(rowid, text) values (?, ?)")
    const startMs = performance.now()
    db.exec("begin")
    for (let session = 0; session < options.sessions; session++) {
      for (const [number, { text }] of options.messages.of(session).entries()) insert.run(seqOf(session, number), text)
    }
    db.exec("commit")
    const seconds = (performance.now() - startMs) / 1000
    const find = db.prepare("select rowid as seq from words where words match ? order by bm25(words) limit 10")
    const ask = (query: string) => {
      const terms = query.match(/[\p{L}\p{N}]+/gu) ?? []
      const isPrefix = query.endsWith("*")
      return find.all(terms.map((term) => `"${term}"${isPrefix ? "*" : ""}`).join(" OR ")) as { seq: number }[]
    }
    const times = options.queries.map(({ query }) => {
      const askedMs = performance.now()
      ask(query)
      return performance.now() - askedMs
    })
    const hits = (pick: (item: KnownItem) => string) =>
      options.items.filter((item) => ask(pick(item)).some(({ seq }) => seq === seqOf(item.session, item.number))).length
    const { p50, p95, p99 } = summarize(times)
    const recall = (count: number) => round(count / options.items.length)
    return {
      p50,
      p99,
      rows: [
        { what: `FTS5 bm25 OR p50 / p95 / p99 ms (n=${times.length})`, value: `${p50} / ${p95} / ${p99}` },
        {
          what: `FTS5 R@10 K1 / K2 (n=${options.items.length})`,
          value: `${recall(hits(({ remembered }) => remembered))} / ${recall(hits(({ misremembered }) => misremembered))}`,
        },
        { what: "FTS5 build s, size MB", value: `${round(seconds, 1)}, ${round(statSync(path).size / 1e6, 0)}` },
      ],
    }
  } finally {
    db.close()
    rmSync(path, { force: true })
  }
}

/** The longest word of the query, in transcript files: the way without an index. */
export function ripgrepPeer(options: PeerOptions): { rows: Row[]; p50: number } {
  if (!hasRipgrep()) return { rows: [{ what: "ripgrep", value: "not installed" }], p50: Number.NaN }
  const folder = join(options.folder, "texts")
  mkdirSync(folder, { recursive: true })
  try {
    for (let session = 0; session < options.sessions; session++) {
      const text = options.messages
        .of(session)
        .map(({ text }) => text)
        .join("\n\n")
      writeFileSync(join(folder, `${session}.txt`), text)
    }
    const times = options.queries.map(({ query }) => {
      const word = (query.match(/[\p{L}\p{N}_]+/gu) ?? []).toSorted((a, b) => b.length - a.length)[0] ?? query
      const askedMs = performance.now()
      const { status } = spawnSync("rg", ["-i", "-F", "-c", "--", word, folder], { maxBuffer: 64 * 1024 * 1024 })
      if (status !== 0 && status !== 1) throw new Error(`rg ended with ${status}`)
      return performance.now() - askedMs
    })
    const { p50, p95, p99 } = summarize(times)
    const value = `${p50} / ${p95} / ${p99}`
    return { p50, rows: [{ what: `ripgrep, one word p50 / p95 / p99 ms (n=${times.length})`, value }] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function hasRipgrep(): boolean {
  const isThere = () => spawnSync("rg", ["--version"]).status === 0
  if (isThere()) return true
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync("apt-get", ["install", "-y", "-q", "ripgrep"], { stdio: "ignore", timeout: 120_000 })
  } catch {
    return false
  }
  return isThere()
}
