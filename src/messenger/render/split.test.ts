import { describe, expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import { clean, GRAPHEMES } from "./clean.ts"
import { markdown } from "./markdown.ts"
import { split } from "./split.ts"

describe("a text that is too long", () => {
  test("is cut between paragraphs, and a code block that fits stays whole", () => {
    const code = "```ts\nconst a = 1\nconst b = 2\n```"
    const rich = markdown(`${"First words. ".repeat(4).trim()}\n\n${"Second words. ".repeat(3)}\n${code}`)
    const parts = split(rich, 110)
    expect(parts.map(({ text }) => text)).toEqual([
      "First words. First words. First words. First words.\n\nSecond words. Second words. Second words.\n",
      "const a = 1\nconst b = 2",
    ])
    expect(split(rich, 60).map(({ text }) => text)).toEqual([
      "First words. First words. First words. First words.\n\n",
      "Second words. Second words. Second words.\n",
      "const a = 1\nconst b = 2",
    ])
    expect(split(rich, 60)[2]!.marks).toEqual([{ kind: "pre", language: "ts", offset: 0, length: 23 }])
  })

  test("a code block that is longer than a part is closed and goes on, in whole lines", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line number ${index}`)
    const parts = split(markdown(`\`\`\`sh\n${lines.join("\n")}\n\`\`\``), 100)
    expect(parts.length).toBeGreaterThan(5)
    for (const { text, marks } of parts) {
      expect(marks).toEqual([{ kind: "pre", language: "sh", offset: 0, length: text.length }])
      expect(text).toMatch(/^line number \d+\n/)
    }
  })

  test("of more marks than are taken, links and code stay, and what only looks goes", () => {
    const rich = markdown("**b** *i* `c` [l](https://a.b) ".repeat(40))
    const [part, ...rest] = split(rich, 4_096)
    expect(rest).toEqual([])
    const counts = Object.groupBy(part!.marks, ({ kind }) => kind)
    expect([counts.link?.length, counts.code?.length, counts.bold?.length, counts.italic]).toEqual([
      40,
      40,
      20,
      undefined,
    ])
    expect(part!.marks).toEqual(part!.marks.toSorted((a, b) => a.offset - b.offset))
  })

  test("whatever it is, the parts are the text, none is too long, and no character is cut", () => {
    for (let seed = 1; seed <= 1_500; seed++) {
      const random = makeRandom(seed)
      const text = clean(anyText(random, 400)).toWellFormed()
      const max = 24 + random.below(100)
      const parts = split({ text, marks: [] }, max)
      expect(parts.map((part) => part.text).join("")).toBe(text)
      expect(Math.max(...parts.map((part) => part.text.length), 0)).toBeLessThanOrEqual(max)
      const borders = new Set(
        Array.from(GRAPHEMES.segment(text), ({ index, segment }) => (segment.length <= max ? index : -1)),
      )
      let at = 0
      for (const part of parts) {
        if (!borders.has(at)) expect({ seed, at, around: text.slice(at - 9, at + 9) }).toBeUndefined()
        at += part.text.length
      }
    }
  })
})
