import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { makeTestSearch, type TestSearch } from "../../../test/fixtures/recall.ts"
import { sqliteIndex } from "../../store/dialects/index-sqlite.ts"
import { type Engine, openEngine } from "./engine.ts"
import { makeIndexer } from "./indexer.ts"

let recall: TestSearch
let engine: Engine
beforeEach(async () => {
  recall = await makeTestSearch()
  engine = openEngine(sqliteIndex({ path: join(recall.dir, "another.db") }))
})
afterEach(async () => {
  engine.close()
  await recall.close()
})

test("an entry of something forgotten is passed only when it is gone: neither whoever waits for it nor a crash may come before", async () => {
  const sessionId = await recall.session("one")
  await recall.say(sessionId, ["prompt", "a lake"])
  const before = await recall.store.journal.last()
  await recall.store.journal.append([{ kind: "turns.forgotten", atMs: 1 }])
  await recall.think(sessionId, 1, "a thought beside it")
  const seen: number[] = []
  const indexer = makeIndexer({
    store: recall.store,
    engine,
    onTouched: () => {},
    onChanged: () => {},
    async onForgotten() {
      seen.push(indexer.position(), engine.facts().position)
    },
  })
  while (await indexer.advance());
  expect(seen).toHaveLength(2)
  expect(Math.max(...seen)).toBeLessThanOrEqual(before)
  expect(indexer.position()).toBe(await recall.store.journal.last())
})
