import type { MessageEntity } from "grammy/types"
import { describe, expect, test } from "vitest"
import { refusal, stage } from "../../fixtures/telegram/stage.ts"

type Loose = { type: string; offset: number; length: number; [key: string]: unknown }
const send = async (text: string, entities: Loose[]) => {
  await using it = await stage()
  return await it.bot.sendMessage(it.chat, text, { entities: entities as MessageEntity[] })
}
const parse = async (text: string, parse_mode: "MarkdownV2" | "Markdown" | "HTML") => {
  await using it = await stage()
  const sent = await it.bot.sendMessage(it.chat, text, { parse_mode })
  return { text: sent.text, entities: sent.entities ?? [] }
}

test("a list of entities is kept as it is, nested ones too", async () => {
  const entities = [
    { type: "bold", offset: 0, length: 5 },
    { type: "italic", offset: 3, length: 2 },
    { type: "pre", offset: 6, length: 4, language: "ts" },
    { type: "text_link", offset: 11, length: 2, url: "https://x.org/" },
  ]
  expect((await send("😀abc code 😀", entities)).entities).toEqual(entities)
})

describe("a list of entities is refused with", () => {
  test.each<[string, string, Loose, string]>([
    ["an end outside of the text", "abc", { type: "bold", offset: 1, length: 3 }, "ENTITY_BOUNDS_INVALID"],
    ["a beginning before it", "abc", { type: "bold", offset: -1, length: 2 }, "ENTITY_BOUNDS_INVALID"],
    ["no length", "abc", { type: "bold", offset: 1, length: 0 }, "ENTITY_BOUNDS_INVALID"],
    ["half a pair at its beginning", "a😀b", { type: "bold", offset: 2, length: 2 }, "entity begins in a middle of"],
    [
      "half a pair at its end",
      "a😀b",
      { type: "bold", offset: 0, length: 2 },
      "entity beginning at UTF-16 offset 0 ends in",
    ],
    [
      "a type that is none",
      "abc",
      { type: "loud", offset: 0, length: 1 },
      "can't parse MessageEntity: unsupported type",
    ],
    [
      "a link to nowhere",
      "abc",
      { type: "text_link", offset: 0, length: 1 },
      "can't parse MessageEntity: wrong text_link",
    ],
    [
      "an offset that is no number",
      "abc",
      { type: "bold", offset: 0.5, length: 1 },
      "can't parse MessageEntity: offset",
    ],
  ])("%s", async (_, text, entity, why) => {
    const [code, said] = await refusal(send(text, [entity]))
    expect([code, said.slice(0, why.length)]).toEqual([400, why])
  })

  test("entities that overlap, or lie in code", async () => {
    const [a, b] = [
      { type: "bold", offset: 0, length: 3 },
      { type: "italic", offset: 2, length: 3 },
    ]
    expect((await refusal(send("abcdef", [a, b])))[1]).toMatch(/^ENTITY_BOUNDS_INVALID/)
    expect(
      (
        await refusal(
          send("abcdef", [
            { ...a, type: "code" },
            { ...b, length: 1 },
          ]),
        )
      )[1],
    ).toMatch(/inside of "code"/)
  })

  test("more than a hundred of them", async () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ type: "bold", offset: index * 2, length: 1 }))
    expect(await refusal(send("a ".repeat(101), many))).toEqual([400, "ENTITIES_TOO_LONG"])
  })
})

test("ends are trimmed, control characters become spaces, and entities move along", async () => {
  const sent = await send(" \n a\r\nb\u0007c  ", [{ type: "bold", offset: 6, length: 3 }])
  expect(sent.text).toBe("a\nb c")
  expect(sent.entities).toEqual([{ type: "bold", offset: 2, length: 3 }])
})

test("commands, mentions and addresses are found by themselves, but not in code", async () => {
  const text = "/stop@a_bot see https://x.org/a, @ada #now a/b /x"
  const sent = await send(text, [{ type: "code", offset: text.length - 2, length: 2 }])
  expect(sent.entities?.map(({ type, offset, length }) => [type, text.slice(offset, offset + length)])).toEqual([
    ["bot_command", "/stop@a_bot"],
    ["url", "https://x.org/a"],
    ["mention", "@ada"],
    ["hashtag", "#now"],
    ["code", "/x"],
  ])
})

describe("MarkdownV2", () => {
  test("is parsed", async () => {
    const source =
      "*bold _both_* __under__ ~gone~ ||secret|| `a\\`b` [link](https://x.org/\\)) 1\\.\n```ts\nlet a = 1.5\n```\n>quoted\nend"
    const { text, entities } = await parse(source, "MarkdownV2")
    expect(text).toBe("bold both under gone secret a`b link 1.\nlet a = 1.5\n\nquoted\nend")
    expect(entities.map(({ type, offset, length }) => [type, text.slice(offset, offset + length)])).toEqual([
      ["bold", "bold both"],
      ["italic", "both"],
      ["underline", "under"],
      ["strikethrough", "gone"],
      ["spoiler", "secret"],
      ["code", "a`b"],
      ["text_link", "link"],
      ["pre", "let a = 1.5\n"],
      ["blockquote", "quoted\n"],
    ])
    expect(entities[6]).toMatchObject({ url: "https://x.org/)" })
    expect(entities[7]).toMatchObject({ language: "ts" })
  })

  test.each([
    ["a.b", "can't parse entities: Character '.' is reserved and must be escaped with the preceding '\\'"],
    ["a - b", "can't parse entities: Character '-' is reserved and must be escaped with the preceding '\\'"],
    ["ö *a", "can't parse entities: Can't find end of Bold entity starting at byte offset 3"],
    ["`a", "can't parse entities: Can't find end of Code entity starting at byte offset 0"],
    ["*_a*_", "can't parse entities: Can't find end of Italic entity starting at byte offset 4"],
  ])("refuses %s", async (source, why) => {
    expect(await refusal(parse(source, "MarkdownV2"))).toEqual([400, why])
  })
})

describe("HTML", () => {
  test("is parsed", async () => {
    const source =
      '<b>a <i>b</i></b> &lt;x&gt; &amp; <a href="https://x.org/?a=1&amp;b">l</a> <pre><code class="language-ts">x</code></pre><blockquote expandable>q</blockquote>'
    const { text, entities } = await parse(source, "HTML")
    expect(text).toBe("a b <x> & l xq")
    expect(entities).toEqual([
      { type: "bold", offset: 0, length: 3 },
      { type: "italic", offset: 2, length: 1 },
      { type: "text_link", offset: 10, length: 1, url: "https://x.org/?a=1&b" },
      { type: "pre", offset: 12, length: 1, language: "ts" },
      { type: "expandable_blockquote", offset: 13, length: 1 },
    ])
  })

  test.each([
    ["<b>a", `can't parse entities: Can't find end tag corresponding to start tag "b"`],
    ["a <div>b</div>", `can't parse entities: Unsupported start tag "div" at byte offset 2`],
    ["<b>a</i>", `can't parse entities: Unmatched end tag at byte offset 4, expected "</b>", found "</i>"`],
    ["a</b>", "can't parse entities: Unexpected end tag at byte offset 1"],
    ["if a < b", "can't parse entities: Unclosed start tag at byte offset 5"],
  ])("refuses %s", async (source, why) => {
    expect(await refusal(parse(source, "HTML"))).toEqual([400, why])
  })
})

test("the old Markdown is parsed, and refuses what does not end", async () => {
  const { text, entities } = await parse("*a* _b_ `c` [d](https://x.org) snake\\_case", "Markdown")
  expect(text).toBe("a b c d snake_case")
  expect(entities.map(({ type }) => type)).toEqual(["bold", "italic", "code", "text_link"])
  expect(await refusal(parse("snake_case", "Markdown"))).toEqual([
    400,
    "can't parse entities: Can't find end of the entity starting at byte offset 5",
  ])
})
