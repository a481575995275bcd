import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeTestSearch, type TestSearch } from "../../../test/fixtures/recall.ts"
import { proves } from "../../../test/promises.ts"
import type { SessionId } from "../../domain/ids.ts"
import { type IndexTables, IndexUnusable } from "../../domain/index-tables.ts"
import { sqliteIndex } from "../../store/dialects/index-sqlite.ts"

let recall: TestSearch
let sessionId: SessionId
beforeEach(async () => {
  recall = await makeTestSearch()
  sessionId = await recall.session("one")
})
afterEach(() => recall.close())

const SOON = { timeout: 60_000, interval: 20 }
const titles = async (query: string, more = {}) =>
  (await recall.search(query, more)).map(({ session }) => session.title)
const many = (count: number) =>
  Array.from({ length: count }, (_, at) => ["prompt", `message ${at} about harbour${at % 7}`] as const)

describe("what changes in the archive", () => {
  test("a turn that reads differently is found by what it says now", async () => {
    await recall.say(sessionId, ["prompt", "a lake", { nativeId: "x" }])
    await recall.settle()
    await recall.say(sessionId, ["prompt", "a mountain", { nativeId: "x" }])
    await recall.settle()
    expect(await titles("lake")).toEqual([])
    expect(await titles("mountain")).toEqual(["one"])
  })

  test("what was taken back is found on request only, and again when it is there again", async () => {
    const [seq] = await recall.say(sessionId, ["prompt", "a lake", { nativeId: "x" }])
    await recall.settle()
    await recall.store.turns.supersede([seq!], 1)
    await recall.store.journal.append([{ kind: "turns.superseded", sessionId, atMs: 1, data: { seqs: [seq] } }])
    await recall.settle()
    expect(await titles("lake")).toEqual([])
    expect(await titles("lake", { superseded: true })).toEqual(["one"])
    await recall.say(sessionId, ["prompt", "a lake", { nativeId: "x" }])
    await recall.settle()
    expect(await titles("lake")).toEqual(["one"])
  })

  test("a question that an agent asked of our own search is not its own answer", async () => {
    await recall.say(
      sessionId,
      ["prompt", "where did we put it?"],
      ["tool_call", '{"query":"lake"}', { toolName: "mcp__throughline__search_conversation_history" }],
      ["tool_result", '{"query":"lake","exchanges":[{"user":"the lake","ai":"It is frozen."}]}'],
      ["tool_call", "lake.txt", { toolName: "Read" }],
    )
    await recall.settle()
    expect((await recall.search("lake", { unit: "turn" })).map(({ snippet }) => snippet.text)).toEqual(["lake.txt"])
    expect(await titles("frozen")).toEqual([])
  })

  test("a scope that was searched a moment ago has what began since, and not what went elsewhere", async () => {
    const main = await recall.session("main", { platform: "codex", gitBranch: "main" })
    await recall.say(main, ["prompt", "a lake"])
    await recall.settle()
    expect(await titles("lake", { platform: "codex" })).toEqual(["main"])
    expect(await titles("lake", { gitBranch: "main" })).toEqual(["main"])
    const later = await recall.session("later", { platform: "codex", gitBranch: "main" })
    await recall.say(later, ["prompt", "a lake again"])
    await recall.store.sessions.describe(main, { gitBranch: "other" })
    await recall.say(main, ["prompt", "the lake on another branch"])
    await recall.settle()
    expect(new Set(await titles("lake", { platform: "codex" }))).toEqual(new Set(["later", "main"]))
    expect(await titles("lake", { gitBranch: "main" })).toEqual(["later"])
    for (let at = 0; at < 120; at++)
      await recall.say(await recall.session(`n${at}`, { platform: "codex" }), ["prompt", `forest ${at}`])
    await recall.settle()
    expect(await titles("forest", { platform: "codex", limit: 200 })).toHaveLength(120)
    expect(await titles("forest", { gitBranch: "main", limit: 200 })).toEqual([])
  })

  test("what was dropped is gone", async () => {
    const seqs = await recall.say(sessionId, ["prompt", "a lake", { isFallback: true }])
    await recall.settle()
    await recall.store.turns.dropFallbacks(sessionId)
    await recall.store.journal.append([{ kind: "turns.dropped", sessionId, atMs: 1, data: { seqs } }])
    await recall.settle()
    expect(await titles("lake", { superseded: true })).toEqual([])
  })

  test("what was forgotten is in no file of the index, once that is passed", async () => {
    await recall.say(sessionId, ["prompt", "the watchword is xylophone42"], ["reply", "a lake"])
    const other = await recall.session("other")
    await recall.say(other, ["prompt", "the watchword is xylophone43"])
    await recall.settle()
    await recall.store.transaction(async (tx) => {
      await tx.journal.append([{ kind: "turns.forgotten", atMs: 1 }])
      await tx.forgetting.session(sessionId, 1)
    })
    await recall.settle()
    const files = readdirSync(recall.dir).filter((name) => name.startsWith("index.db"))
    const bytes = Buffer.concat(files.map((name) => readFileSync(join(recall.dir, name))))
    expect(bytes.includes("xylophone42")).toBe(false)
    expect(bytes.includes("xylophone43")).toBe(true)
    expect(await titles("watchword")).toEqual(["other"])
  })
})

describe(`an index that cannot be used. ${proves("search.rebuilt")}`, () => {
  const spoiled = async (how: (db: Database.Database) => void) => {
    await recall.say(sessionId, ...many(1200))
    await recall.settle()
    await recall.restart(() => {
      const db = new Database(recall.indexPath)
      how(db)
      db.close()
    })
    await recall.settle()
  }
  const isWhole = async () => {
    expect((await recall.core.facts()).documents).toBe(1200)
    expect(await recall.search("harbour3")).toHaveLength(10)
  }

  test("of another version is rebuilt", async () => {
    await spoiled((db) => db.prepare("update meta set value = 'of another time' where key = 'format'").run())
    expect(recall.rebuilds).toEqual([expect.stringContaining("version")])
    await isWhole()
  })

  test("that does not know how far it is, is rebuilt", async () => {
    await spoiled((db) => db.prepare("delete from meta where key = 'position'").run())
    expect(recall.rebuilds).toHaveLength(1)
    await isWhole()
  })

  test("with damaged documents is rebuilt", async () => {
    await spoiled((db) => db.prepare("update segments set docs = zeroblob(length(docs))").run())
    expect(recall.rebuilds).toHaveLength(1)
    await isWhole()
  })

  test("that is no database is rebuilt", async () => {
    await recall.say(sessionId, ...many(1200))
    await recall.restart(() => writeFileSync(recall.indexPath, "x".repeat(100_000)))
    await recall.settle()
    expect(recall.rebuilds).toHaveLength(1)
    await isWhole()
  })

  test("an intact one goes on where it was", async () => {
    await spoiled(() => {})
    expect(recall.rebuilds).toEqual([])
    await isWhole()
  })

  test("deleted under it is rebuilt, and searches answer meanwhile and say so", async () => {
    await recall.say(sessionId, ...many(3000))
    await recall.settle()
    for (const suffix of ["", "-wal", "-shm"]) rmSync(recall.indexPath + suffix, { force: true })
    await recall.say(sessionId, ["prompt", "one more about a lighthouse"])
    await expect.poll(() => recall.rebuilds.length, SOON).toBe(1)
    const during = await recall.core.search({ query: "harbour3", limit: 5 })
    expect(during.isComplete || /rebuilt|behind/.test(during.notes.join())).toBe(true)
    await recall.settle()
    expect((await recall.core.facts()).documents).toBe(3001)
    const after = await recall.core.search({ query: "lighthouse", limit: 5 })
    expect(after).toMatchObject({ isComplete: true, notes: [] })
    expect(after.hits).toHaveLength(1)
  })
})

test("an index that is ahead of the archive, which was restored from a backup, is rebuilt", async () => {
  await recall.say(sessionId, ...many(600))
  await recall.settle()
  await recall.restart(() => {
    const db = new Database(recall.indexPath)
    db.exec("update meta set value = '1000' where key = 'position'")
    db.close()
  })
  await recall.settle()
  expect(recall.rebuilds).toEqual(["the archive is older than the index"])
  expect((await recall.core.facts()).documents).toBe(600)
})

test("an index is rebuilt on request", async () => {
  await recall.say(sessionId, ...many(600))
  await recall.settle()
  await recall.core.rebuild()
  expect(recall.rebuilds).toEqual(["requested"])
  expect((await recall.core.facts()).documents).toBe(600)
  expect(await recall.search("harbour3")).toHaveLength(10)
})

test("two searches that find the index unusable rebuild it once", async () => {
  let isBroken = false
  const tables = sqliteIndex({ path: join(recall.dir, "other-index.db") })
  const fragile: IndexTables = Object.create(tables, {
    termsOf: {
      value(words: readonly string[]) {
        if (isBroken) throw new IndexUnusable("damaged", "the file was cut off")
        return tables.termsOf(words)
      },
    },
    clear: {
      value: () => {
        isBroken = false
        return tables.clear()
      },
    },
  })
  const other = await makeTestSearch({ tables: fragile })
  try {
    await other.say(await other.session("one"), ...many(1200))
    await other.settle()
    isBroken = true
    const answers = await Promise.all(["xylophone", "zither"].map((query) => other.core.search({ query, limit: 10 })))
    expect(answers.map(({ isComplete }) => isComplete)).toEqual([false, false])
    expect(other.rebuilds).toEqual(["the file was cut off"])
    await other.settle()
    expect((await other.core.facts()).documents).toBe(1200)
  } finally {
    await other.close()
  }
})

test("rebuilt while it writes and merges, nothing is missing, double or in trouble", async () => {
  for (let round = 0; round < 4; round++) {
    await recall.say(sessionId, ...many(1500))
    await recall.core.rebuild()
    await recall.core.rebuild()
  }
  await recall.settle()
  expect(recall.troubles).toEqual([])
  expect((await recall.core.facts()).documents).toBe(6000)
}, 240_000)
