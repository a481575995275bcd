import { expect, test } from "vitest"
import { embeddedText } from "./text.ts"

test("what was asked comes first, then what was answered, without blocks of code", () => {
  const ai = "Use a lock:\n```ts\nconst lock = take()\n```\nIt is released at the end.\n~~~\nx\n~~~"
  expect(embeddedText({ user: "How do I wait?", ai })).toBe(
    "How do I wait?\n\nUse a lock:\n\nIt is released at the end.",
  )
})

test("a block that is never closed ends with the text, and code alone stays", () => {
  expect(embeddedText({ user: "a", ai: "Look:\n```\nint x;\nint y;" })).toBe("a\n\nLook:")
  expect(embeddedText({ user: "```\nls -l\n```", ai: "" })).toBe("```\nls -l\n```")
  expect(embeddedText({ user: "", ai: "" })).toBe("")
})

test("a long prompt leaves room for the answer, and both together are bounded", () => {
  const text = embeddedText({ user: "p".repeat(50_000), ai: "a".repeat(50_000) })
  expect([text.length, text.match(/p/g)!.length, text.match(/a/g)!.length]).toEqual([2_002, 1_200, 800])
})
