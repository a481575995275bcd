import { expect, test } from "vitest"
import { type DocKind, WEIGHTS, weigh } from "./document.ts"

test("a word counts as often as it is said", () => {
  const { words, length } = weigh("prompt", "Retry the retries of the parser")
  expect(Object.fromEntries(words)).toEqual({ retri: 2, the: 2, of: 1, parser: 1 })
  expect(length).toBe(6)
})

test.each(Object.entries(WEIGHTS) as [DocKind, number][])("a word of a %s counts %d", (kind, weight) => {
  const { words, length } = weigh(kind, "parser")
  expect(words.get("parser")).toBe(weight)
  expect(length).toBe(weight)
})

test.each([
  ["in a fence", "We changed it:\n```ts src/user.ts\nconst zebra = 1\n```\nand then tested."],
  ["in a fence of tildes", "We changed it in src/user.ts:\n~~~\nconst zebra = 1\n```\n~~~\nand then tested."],
  ["in a fence in a list", "- We changed src/user.ts:\n  ```\n  zebra()\n  ```\n- and then tested."],
  ["in an indented block", "We changed src/user.ts:\n\n    zebra()\n\n    more()\n\nand then tested."],
  [
    "in a diff",
    "We changed\ndiff --git a/src/user.ts b/src/user.ts\n--- a/src/user.ts\n@@ -1 +1 @@\n-old\n+zebra\nand then tested.",
  ],
])("code %s counts little, what stands around it fully", (_, text) => {
  const { words } = weigh("reply", text)
  expect(words.get("zebra")).toBeCloseTo(0.3)
  expect(words.get("chang")).toBe(1)
  expect(words.get("test")).toBe(1)
  expect(words.get("user.ts")).toBeGreaterThanOrEqual(1)
})

test("prose that is only indented, or a nested list, is no code", () => {
  const { words } = weigh("prompt", "Steps:\n\n    - first zebra\n    1. second walrus\ntext\n    lynx goes on")
  expect([words.get("zebra"), words.get("walrus"), words.get("lynx")]).toEqual([1, 1, 1])
})

test("a fence that is never closed is code to its end", () => {
  expect(weigh("reply", "Look:\n```\nzebra\n\nmore").words.get("zebra")).toBeCloseTo(0.3)
})

test("the length is the sum of the weights", () => {
  const { words, length } = weigh("reply", "We changed it:\n```\nconst zebra = zebra2\n```\nand then tested it.")
  expect([...words.values()].reduce((sum, weight) => sum + weight, 0)).toBeCloseTo(length)
})

test("long output of a tool keeps its beginning and its end", () => {
  const { words, length } = weigh(
    "tool_result",
    `first ${"middle ".repeat(5_000)}needle ${"middle ".repeat(5_000)} last`,
  )
  expect(words.has("first") && words.has("last")).toBe(true)
  expect(words.has("needl")).toBe(false)
  expect(length).toBeLessThan((16 * 1024 * WEIGHTS.tool_result) / 7 + 1)
})

test("a cut never splits a word", () => {
  const { words } = weigh("tool_result", "elephants ".repeat(100_000))
  expect([...words.keys()]).toEqual(["eleph"])
  expect([...weigh("prompt", "elephants ".repeat(100_000)).words.keys()]).toEqual(["eleph"])
})

test("a line break that JSON wrote as \\n is not the first letter of the next word", () => {
  const input = JSON.stringify({ path: "C:\\new\\user.ts", text: "first\nnext\té\u0001x", emoji: "\ud83d\ude00" })
  const { words } = weigh("tool_call", input)
  for (const word of ["first", "next", "new", "user.ts", "path"]) expect(words.has(word)).toBe(true)
  expect(words.has("nnext")).toBe(false)
})

test.each([
  ["line breaks", "\n"],
  ["fences", "```\n"],
  ["backticks", "`"],
  ["indented lines", "\n    "],
  ["blanks", " "],
  ["backslashes", "\\"],
  ["diff heads", "@@ -\n"],
])("a megabyte of %s takes linear time", (_, unit) => {
  const text = unit.repeat(1_000_000 / unit.length)
  const startedMs = performance.now()
  for (const kind of ["reply", "tool_call"] as const) weigh(kind, text)
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})
