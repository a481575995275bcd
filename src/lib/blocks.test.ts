import { describe, expect, test } from "vitest"
import { cutBlocks } from "./blocks.ts"

const cut = (text: string) => cutBlocks(text, (name) => name === "note" || name === "hint-two")

describe("a block that a program put in is cut", () => {
  test.each([
    ["before", "<note>a\nb</note>\n\nwords", "words"],
    ["after", "words\n\n<note>a</note>", "words"],
    ["between lines", "one\n<note>a</note>\ntwo", "one\ntwo"],
    ["between paragraphs", "one\n\n<note>\na\n</note>\n\ntwo", "one\n\ntwo"],
    ["twice", "<note>a</note>\n<hint-two>b</hint-two>\nwords\n<note>c</note>", "words"],
    ["with attributes", '<note id="1">a</note>\nwords', "words"],
    ["within another", "<note>a\n<note>b</note>\nc</note>\nwords", "words"],
    ["glued to the words, over several lines", "words<note>a\nb</note>", "words"],
    ["with an open fence in it", "<note>```\na</note>\nwords", "words"],
    ["alone", "<note>a</note>\n", ""],
  ])("%s", (_, text, left) => expect(cut(text)).toBe(left))
})

describe("what a person wrote stays as it is", () => {
  test.each([
    ["no block", "  words <b>bold</b>\n"],
    ["a block of another name", "<other>a</other>\nwords"],
    ["one that is never closed", "<note>a\n\nwords"],
    ["one that was never opened", "words</note>\nmore"],
    ["within a line", "why do I see <note>a</note> here?"],
    ["at the beginning of a line", "<note>a</note> is what I see"],
    ["in quotation marks", 'it printed "<note>a\nb</note>" twice'],
    ["in backticks", "it printed `<note>a</note>`"],
    ["in a fence", "look:\n```\n<note>a</note>\n```\nwhy?"],
    ["in a fence of tildes", "~~~\n<note>a\n</note>\n~~~"],
    ["behind a mark of quotation", "> <note>a</note>\nwhy?"],
    ["indented like code", "see\n\n    <note>a</note>\n"],
  ])("%s", (_, text) => expect(cut(text)).toBe(text))
})

test("after an open block that is never closed, a closed one is cut and the words between are not", () => {
  expect(cut("<note>open\nwords\n<note>a</note>\nmore")).toBe("<note>open\nwords\nmore")
})

test("time grows with the text, not with its square", () => {
  const begun = performance.now()
  for (const part of [
    "<note>\n",
    "</note>\n",
    "<note>a</note> b\n",
    "<note>a</note>\n",
    "```\n<note>",
    "<note <note ",
    "<note>a</note> b ",
  ])
    cut(part.repeat(100_000))
  expect(performance.now() - begun).toBeLessThan(20_000)
})
