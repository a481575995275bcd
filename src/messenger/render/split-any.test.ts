import fc from "fast-check"
import { expect, test } from "vitest"
import { formatted } from "../../../test/fixtures/telegram/entities.ts"
import type { RichText, TextMark } from "../../domain/rich-text.ts"
import { postOf } from "../outbound/words.ts"
import { markdown } from "./markdown.ts"
import { legal } from "./marks.ts"
import { split } from "./split.ts"

const KINDS = ["bold", "italic", "strike", "code", "quote", "spoiler", "pre"] as const
const TYPES = { strike: "strikethrough", quote: "blockquote", link: "text_link" } as const

/** Words, lines, characters of several units, halves of characters, code: whatever somebody or something writes. */
const piece = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom("\n", "\n\n", " ", "😀", "👩‍👩‍👧‍👦", "e\u0301", "\ud83d", "\udc00", "```", "**", "x".repeat(90)),
)
const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""))
const limit = fc.oneof(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 2, max: 200 }))

const richOf = (said: string): fc.Arbitrary<RichText> =>
  fc
    .array(
      fc.record({
        kind: fc.constantFrom(...KINDS),
        offset: fc.nat(Math.max(1, said.length)),
        length: fc.nat(Math.max(1, said.length)),
      }),
      { maxLength: 12 },
    )
    .map((marks) => legal({ text: said, marks: marks as TextMark[] }))
const rich = text.chain((said) => fc.oneof(richOf(said), fc.constant(markdown(said))))

const entitiesOf = ({ marks }: RichText) =>
  marks.map(({ kind, offset, length, ...more }) => ({
    type: kind in TYPES ? TYPES[kind as keyof typeof TYPES] : kind,
    offset,
    length,
    ...("url" in more ? { url: more.url } : {}),
  }))

test("any text, at any limit: nothing is lost, no part is longer, no character is cut, and its marks are taken", () => {
  fc.assert(
    fc.property(rich, limit, (whole, most) => {
      const parts = split(whole, most)
      expect(parts.map((part) => part.text).join("")).toBe(whole.text)
      for (const part of parts) {
        expect(part.text.length).toBeGreaterThan(0)
        expect(part.text.length).toBeLessThanOrEqual(most)
        if (whole.text.isWellFormed()) expect(part.text.isWellFormed()).toBe(true)
        for (const { offset, length } of part.marks) {
          expect(offset).toBeGreaterThanOrEqual(0)
          expect(length).toBeGreaterThan(0)
          expect(offset + length).toBeLessThanOrEqual(part.text.length)
        }
        // By the rules of the messenger itself: what overlaps, or ends within a character, is refused there.
        if (part.text.isWellFormed()) formatted(part.text, undefined, entitiesOf(part))
      }
    }),
    { numRuns: 400 },
  )
})

test("any code block of up to three quarters of the limit stays whole, whatever is around it", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, fc.integer({ min: 1, max: 150 })), { maxLength: 5 }), (around) => {
      const most = 200
      const marks: TextMark[] = []
      let said = ""
      for (const [words, length] of around) {
        said += `${words.toWellFormed()}\n`
        marks.push({ kind: "pre", offset: said.length, length })
        said += `${"c".repeat(length)}\n`
      }
      const blocks = split({ text: said, marks }, most).flatMap((part) =>
        part.marks.filter(({ kind }) => kind === "pre").map((mark) => mark.length),
      )
      expect(blocks).toEqual(around.map(([, length]) => length))
    }),
    { numRuns: 400 },
  )
})

test("any part, in any form, with its label and as a repeat: all of its words are in the message or in its file", () => {
  const can = { maxTextUnits: 4_096, maxCaptionUnits: 1_024 } as never
  const form = fc.constantFrom(0 as const, 1 as const, 2 as const)
  const long = fc
    .tuple(text, fc.integer({ min: 1, max: 120 }))
    .map(([said, times]) => said.repeat(times).slice(0, 4_096))
  fc.assert(
    fc.property(long, form, fc.boolean(), fc.boolean(), (said, how, isRepeat, isFlat) => {
      const label = isFlat ? { text: "▸ here • shop", marks: [] } : undefined
      const post = postOf({ body: { text: said, marks: [] }, isSilent: true }, can, { form: how, isRepeat, label })
      expect(post.body.text.length).toBeLessThanOrEqual(post.file ? 1_024 : 4_096)
      const kept = post.file ? Buffer.from(post.file.bytes).toString() : post.body.text
      expect(kept.includes(said.toWellFormed()) || kept.includes(said)).toBe(true)
      if (isFlat) expect(post.body.text).toContain("▸ here • shop")
    }),
    { numRuns: 300 },
  )
})
