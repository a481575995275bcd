import { describe, expect, test } from "vitest"
import { makeRandom } from "../../../bench/corpus/random.ts"
import { anyText } from "../../../test/fixtures/any-text.ts"
import type { RichText, TextMark } from "../../domain/rich-text.ts"
import { markdown } from "./markdown.ts"
import { legal } from "./marks.ts"
import { split } from "./split.ts"

/** As it reads, with each mark around its words. */
function seen({ text, marks }: RichText): string {
  const opens = (mark: TextMark) =>
    `<${mark.kind}${"url" in mark ? ` ${mark.url}` : "language" in mark ? ` ${mark.language}` : ""}>`
  let said = ""
  for (let at = 0; at <= text.length; at++) {
    for (const mark of marks.toReversed()) if (mark.offset + mark.length === at) said += `</${mark.kind}>`
    for (const mark of marks) if (mark.offset === at) said += opens(mark)
    said += text[at] ?? ""
  }
  return said
}

/** What every messenger asks of marks; a list of what is wrong with them. */
function wrongWith({ text, marks }: RichText): string[] {
  const wrong: string[] = []
  const isHalf = (at: number) => /[\ud800-\udbff]/.test(text[at - 1] ?? "") && /[\udc00-\udfff]/.test(text[at] ?? "")
  if (!text.isWellFormed()) wrong.push("half a character in the text")
  const around: TextMark[] = []
  let last: TextMark | undefined
  for (const mark of marks) {
    const end = mark.offset + mark.length
    if (mark.offset < 0 || mark.length < 1 || end > text.length) wrong.push(`outside: ${JSON.stringify(mark)}`)
    if (isHalf(mark.offset) || isHalf(end)) wrong.push(`half: ${JSON.stringify(mark)}`)
    if (last && (mark.offset < last.offset || (mark.offset === last.offset && mark.length > last.length)))
      wrong.push(`order: ${JSON.stringify([last, mark])}`)
    while (around.length > 0 && around.at(-1)!.offset + around.at(-1)!.length <= mark.offset) around.pop()
    for (const outer of around) {
      if (outer.offset + outer.length < end) wrong.push(`crossing: ${JSON.stringify([outer, mark])}`)
      if (outer.kind === "pre" || outer.kind === "code" || outer.kind === mark.kind)
        wrong.push(`within: ${JSON.stringify([outer, mark])}`)
      if ((mark.kind === "code" && outer.kind !== "quote") || mark.kind === "pre")
        wrong.push(`code within: ${JSON.stringify([outer, mark])}`)
    }
    around.push(mark)
    last = mark
  }
  return wrong
}

describe("what agents write", () => {
  test.each([
    ["# Head **bold**", "<bold>Head bold</bold>"],
    [
      "**a** and *b*, __c__ and _d_, ~~e~~",
      "<bold>a</bold> and <italic>b</italic>, <bold>c</bold> and <italic>d</italic>, <strike>e</strike>",
    ],
    ["***both***", "<bold><italic>both</italic></bold>"],
    ["**Use `x` now**", "<bold>Use </bold><code>x</code><bold> now</bold>"],
    ["`a_b` and ``c`d``", "<code>a_b</code> and <code>c`d</code>"],
    ["snake_case_name 2*3*4 a * b", "snake_case_name 2*3*4 a * b"],
    ["- one\n  - two\n* three\n1. four\n- [x] five\n- [ ] six", "• one\n  • two\n• three\n1. four\n☑ five\n☐ six"],
    ["- `a\n  b` and **c\n  d**\n- **e", "• <code>a b</code> and <bold>c\n  d</bold>\n• **e"],
    ["[docs](https://a.b/c_d_e) ok", "<link https://a.b/c_d_e>docs</link> ok"],
    ["[`f()`](https://a.b)", "<link https://a.b>f()</link>"],
    ["[src/a.ts:12](src/a.ts#L12) and [here](src/b.ts)", "src/a.ts:12 and here (src/b.ts)"],
    ["![chart](https://a.b/c.png)", "<link https://a.b/c.png>🖼 chart</link>"],
    ["<https://a.b/_x_> https://a.b/_y_z", "https://a.b/_x_ https://a.b/_y_z"],
    ["> said\n> **so**\n\nafter", "<quote>said\n<bold>so</bold></quote>\n\nafter"],
    ["```ts\nconst a = `*b*`\n```\nafter", "<pre ts>const a = `*b*`</pre>\nafter"],
    ["- item\n  ```sh\n  ls\n    -l\n  ```", "• item\n<pre sh>ls\n  -l</pre>"],
    ["```\nnot closed\n", "<pre>not closed</pre>"],
    ["| a | b |\n|---|:-:|\n| `x` | long |", "<pre>a │ b\n──┼─────\nx │ long</pre>"],
    ["<div>a &lt; b</div>", "<div>a < b</div>"],
    ["a\n\n\n\nb\n---\nc", "a\n\nb\n———\nc"],
    ["**not closed and `not either", "**not closed and `not either"],
    [String.raw`\*as it is\* C:\Users`, String.raw`*as it is* C:\Users`],
    ["a\u202eb\u0000c\ud800", "abc\ufffd"],
  ])("%j", (source, expected) => {
    const rich = markdown(source)
    expect(seen(rich)).toBe(expected)
    expect(wrongWith(rich)).toEqual([])
  })
})

const SYNTAX =
  "* ** *** _ __ ~~ ` `` ``` ~~~ [ ] ]( ) ![ > # - 1. | |--| \\ < & &lt; \n \n\n https://a.b/c [x](https://a.b) **b** `c`".split(
    " ",
  )

/** Whatever somebody may write, and Markdown in all its parts without sense. */
function anyMarkdown(seed: number): string {
  const random = makeRandom(seed)
  const pieces = Array.from({ length: random.below(80) + 1 }, () =>
    random.chance(0.6) ? random.pick(SYNTAX) : random.chance(0.5) ? anyText(random, 6) : "\n",
  )
  return pieces.join(random.chance(0.5) ? " " : "")
}

describe("whatever it is given", () => {
  test("marks that nobody has put in order become such as messengers take, and styles stay on their words", () => {
    const kinds = ["bold", "italic", "strike", "spoiler", "code", "pre", "quote", "link"] as const
    for (let seed = 1; seed <= 4_000; seed++) {
      const random = makeRandom(seed)
      const text = "a😀b👨‍👩‍👧c".repeat(4)
      const marks = Array.from({ length: random.below(12) }, (): TextMark => {
        const place = { offset: random.below(50) - 3, length: random.below(30) - 2 }
        const kind = random.pick(kinds)
        return kind === "link" ? { kind, url: "https://a.b", ...place } : { kind, ...place }
      })
      const wrong = wrongWith(legal({ text, marks }))
      if (wrong.length > 0) expect({ seed, marks, wrong }).toBeUndefined()
    }
    const crossing: TextMark[] = [
      { kind: "bold", offset: 0, length: 4 },
      { kind: "italic", offset: 2, length: 4 },
    ]
    expect(seen(legal({ text: "abcdef", marks: crossing }))).toBe(
      "<bold>ab<italic>cd</italic></bold><italic>ef</italic>",
    )
  })

  test("marks are inside of the text, in order, on whole characters, and nested as messengers take them", () => {
    for (let seed = 1; seed <= 6_000; seed++) {
      const source = anyMarkdown(seed)
      const wrong = wrongWith(markdown(source))
      if (wrong.length > 0) expect({ seed, source, wrong }).toBeUndefined()
    }
  })

  test.each([
    ["stars", "*a ".repeat(350_000)],
    ["runs of stars", "**a** *b*".repeat(110_000)],
    ["backticks of all lengths", Array.from({ length: 1_400 }, (_, n) => "`".repeat(n)).join(" ")],
    ["brackets", "[".repeat(500_000) + "](".repeat(250_000)],
    ["links that do not end", '[a](b "c '.repeat(110_000)],
    ["quotes in quotes", `${">".repeat(500_000)}\n${"> ".repeat(250_000)}`],
    ["a table of bars", `${"|".repeat(500_000)}\n|-|\n${"||\n".repeat(160_000)}`],
    ["one line", "word ".repeat(200_000)],
    ["fences", "```\n".repeat(250_000)],
    ["marks everywhere", "**_~~`a`~~_** ".repeat(75_000)],
  ])("1 MB of %s is read in a moment, and cut into parts", (_, source) => {
    const before = process.threadCpuUsage()
    const rich = markdown(source)
    const parts = split(rich, 4_096)
    // Of this thread alone: the machine may be busy with others.
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(3_000)
    expect(parts.map(({ text }) => text).join("")).toBe(rich.text)
    expect(parts.flatMap(wrongWith)).toEqual([])
  })
})
