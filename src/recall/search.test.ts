import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import type { ProjectId, SessionId } from "../domain/ids.ts"
import type { Store } from "../domain/store.ts"
import { makeSessions } from "../sessions/room.ts"
import { openStore } from "../store/open.ts"
import { sqlite } from "../store/sqlite.ts"
import { makeRecall, type RecallRoom } from "./room.ts"

let top: string
let store: Store
let recall: RecallRoom
const ids: Record<string, { sessionId: SessionId; projectId: ProjectId }> = {}

beforeAll(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-search-")))
  store = await openStore(sqlite({ path: join(top, "throughline.db") }))
  recall = makeRecall({ store })
  const room = makeSessions({
    store,
    clock: { nowMs: () => 1 },
    homeDir: join(top, "home"),
    tempDir: join(top, "temp"),
  })
  const think = async (project: string, thought: string, more: object = {}) => {
    mkdirSync(join(top, project), { recursive: true })
    const caller = { surface: "mcp" as const, key: project, cwd: join(top, project) }
    const { session } = await room.thinking.record(caller, { thought, nextThoughtNeeded: true, ...more })
    ids[project] = { sessionId: session.id, projectId: session.projectId! }
  }
  await think("app", "The retry queue drops messages when Redis restarts")
  await think("app", "Messages wait in a retry list before the queue")
  await think("app", "Perhaps a zebra crossing", { branchId: "aside", branchFromThought: 1 })
  await think("app", `${"padding ".repeat(100)}needle ${"padding ".repeat(100)}`)
  await think("app", 'It\'s a "quoted" C++ café in src/queue.ts: 100%')
  await think("other", "A queue of people")
  await room.keeping.linkRoot(ids.other!.sessionId, join(top, "app"))
  await think("third", "No people but a queue")
  await index()
})
afterAll(async () => {
  await store.close()
  rmSync(top, { recursive: true, force: true })
})

const index = async () => {
  const entries = await store.journal.after(0, 1000)
  await store.transaction((tx) => recall.indexer.after(entries, tx, new AbortController().signal))
}
const search = (query: string, more: object = {}) => recall.thoughts({ query, limit: 10, ...more })
const found = async (query: string, more: object = {}) => (await search(query, more)).map((hit) => hit.thought.text)

describe(proves("search.by-words"), () => {
  test("every word must occur, in any order and case", async () => {
    expect(await found("queue RETRY")).toEqual(
      expect.arrayContaining([expect.stringContaining("drops"), expect.stringContaining("wait")]),
    )
    expect(await found("retry queue")).toHaveLength(2)
    expect(await found("retry zebra")).toEqual([])
  })

  test("quotes keep words together", async () => {
    expect(await found('"retry queue"')).toEqual([expect.stringContaining("drops")])
    expect(await found('"queue retry"')).toEqual([])
    expect(await found('redis "retry queue" messages')).toHaveLength(1)
  })

  test("thoughts on branches are found, with their branch", async () => {
    const hits = await search("zebra")
    expect(hits.map(({ thought }) => [thought.branchId, thought.number])).toEqual([["aside", 2]])
    expect(hits[0]!.session.id).toBe(ids.app!.sessionId)
    expect(hits[0]!.score).toBeGreaterThan(0)
  })

  test("parts of paths and names with accents are found", async () => {
    expect(await found("queue.ts")).toHaveLength(1)
    expect(await found("src/queue.ts")).toHaveLength(1)
    expect(await found("cafe")).toHaveLength(1)
  })

  test.each([
    ['"'],
    ['"unclosed zebra'],
    ["zebra*"],
    ["zebra OR needle"],
    ["NEAR(zebra)"],
    ["text:zebra"],
    ["-zebra"],
    ["'; --"],
    ["(((("],
  ])("the query %s is words and nothing else", async (query) => {
    await expect(search(query)).resolves.toBeInstanceOf(Array)
  })

  test("a query without a word finds nothing", async () => {
    expect(await search('" ?! "')).toEqual([])
  })

  test("no more than asked for are returned", async () => {
    expect(await found("queue", { limit: 2 })).toHaveLength(2)
  })
})

describe("filters", () => {
  test("one session", async () => {
    expect(await found("queue", { sessionId: ids.third!.sessionId })).toEqual(["No people but a queue"])
  })

  test("one project, with the sessions that are linked to it", async () => {
    const texts = await found("queue", { projectId: ids.app!.projectId })
    expect(texts).toContain("A queue of people")
    expect(texts).not.toContain("No people but a queue")
  })
})

describe("the snippet", () => {
  test("is the whole text when it is short", async () => {
    expect((await search("zebra"))[0]!.snippet).toBe("Perhaps a zebra crossing")
  })

  test("is cut around the word when it is long", async () => {
    const { snippet } = (await search("needle"))[0]!
    expect(snippet).toMatch(/^….*needle.*…$/)
    expect(snippet.length).toBeLessThanOrEqual(162)
  })
})

test("indexing the same entries again changes nothing", async () => {
  const queries = ["queue", "zebra", "retry queue", "padding"]
  const before = await Promise.all(queries.map((query) => search(query)))
  await index()
  await index()
  expect(await Promise.all(queries.map((query) => search(query)))).toEqual(before)
})
