import { describe, expect, test } from "vitest"
import { decisionsIn, type Statement } from "./decisions.ts"

const said = (...texts: string[]): Statement[] => texts.map((text, index) => ({ text, atMs: index, by: "agent" }))
const decided = (...texts: string[]) => decisionsIn(said(...texts)).map(({ text }) => text)

describe("these settle something", () => {
  test.each([
    "We decided to keep the old parser.",
    "Let's go with the token bucket.",
    "But keep it in memory first with a 1s flush.",
    "We’ll use SQLite for the archive.",
    "I don't want a query per request.",
    "It is written by rename, because a crash must not tear it.",
    "Never touch the generated files.",
    "我们决定使用队列。",
  ])("%s", (sentence) => {
    expect(decided(`I looked at it. ${sentence}`)).toEqual([sentence.replaceAll("’", "'")])
  })
})

describe("these do not", () => {
  test.each([
    "We need a rate limiter on the API.",
    "Should we go with the token bucket?",
    "I looked at `src/use.ts` and it is long.",
    "```ts\n// we decided to use this\n```",
    "> We decided to quote somebody.",
    "| decided | we'll use |",
  ])("%s", (text) => {
    expect(decided(text)).toEqual([])
  })
})

describe("a newer decision replaces an older one on the same subject", () => {
  test.each([
    ["We'll use Redis for the queue.", "Let's go with PostgreSQL for the queue."],
    ["Let's use tabs.", "Use spaces instead of tabs."],
    ["We decided to store depths in feet.", "We decided to store depths in metres."],
  ])("%s %s", (older, newer) => {
    expect(decided(older, newer)).toEqual([newer])
    expect(decided(newer, older)).toEqual([older])
  })

  test("but not one on another subject", () => {
    expect(decided("We'll use Redis for the cache.", "Let's go with vitest in the journeys.")).toHaveLength(2)
  })
})

test("a person's decision weighs more than an agent's remark", () => {
  const statements: Statement[] = [
    { text: "Let's use the long way.", atMs: 1, by: "person" },
    { text: "I will use the grep tool.", atMs: 2, by: "agent" },
  ]
  expect(decisionsIn(statements).map(({ atMs }) => atMs)).toEqual([1, 2])
})
