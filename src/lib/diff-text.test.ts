import { expect, test } from "vitest"
import { diffText } from "./diff-text.ts"

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`)

test("changed lines come with two lines around them, and a sign where lines are left out", () => {
  const before = numbered(12)
  const after = before.with(3, "new").toSpliced(4, 1)
  expect(diffText(before.join("\n"), after.join("\n"))).toBe(
    "  line 1\n  line 2\n- line 3\n- line 4\n+ new\n  line 5\n  line 6\n  …",
  )
})

test("a new file is all added, a deleted one all removed, and an end of line alone is no change", () => {
  expect(diffText(null, "a\nb\n")).toBe("+ a\n+ b")
  expect(diffText("a\nb\n", null)).toBe("- a\n- b")
  expect(diffText("a\nb", "a\nb\n")).toBe("")
})

test("two changes far apart in a long file show only themselves", () => {
  const before = numbered(20_000)
  const after = ["first", ...before.slice(1, -1), "last"]
  expect(diffText(before.join("\n"), after.join("\n"))).toBe(
    "- line 0\n+ first\n  line 1\n  line 2\n  …\n  line 19997\n  line 19998\n- line 19999\n+ last",
  )
})

test("texts that share nothing are shown whole, old and then new", () => {
  const before = numbered(5_000).map((line) => `- ${line}`)
  const after = numbered(5_000).map((line) => `+ other ${line}`)
  const shown = diffText(before.join("\n"), after.join("\n")).split("\n")
  expect(shown).toEqual([...before.map((line) => `- ${line}`), ...after.map((line) => `+ ${line}`)])
})
