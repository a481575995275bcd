import { afterEach, beforeEach, expect, test } from "vitest"
import { makeTestSearch, type TestSearch } from "../../../test/fixtures/recall.ts"
import type { Turn } from "../../domain/turn.ts"
import { exchangeFinder } from "./exchange-finder.ts"

let recall: TestSearch
beforeEach(async () => {
  recall = await makeTestSearch()
})
afterEach(() => recall.close())

test("a superseded prompt is an exchange of its own and begins none for the turns after it", async () => {
  const sessionId = await recall.session("one")
  const finder = exchangeFinder(recall.store)
  const [first] = await turns(await recall.say(sessionId, ["prompt", "first"]))
  expect(await finder.of(first!)).toBe(first!.seq)

  const [withdrawn] = await recall.say(sessionId, ["prompt", "withdrawn"])
  await recall.store.turns.supersede([withdrawn!], 1)
  const [superseded] = await turns([withdrawn!])
  expect(await finder.of(superseded!)).toBe(withdrawn)

  const [reply] = await turns(await recall.say(sessionId, ["reply", "to the first"]))
  expect(await finder.of(reply!)).toBe(first!.seq)
})

const turns = (seqs: readonly number[]): Promise<Turn[]> => recall.store.turns.bySeqs([...seqs])
