import type { RichText } from "../../domain/rich-text.ts"
import { GRAPHEMES } from "./clean.ts"
import { fewer, slice, wholeAt } from "./marks.ts"

/** Splits a text into parts of at most so many units. A mark over a border continues in the next part. */
export function split(rich: RichText, maxUnits: number): RichText[] {
  const parts: RichText[] = []
  let at = 0
  let first = 0
  while (at < rich.text.length) {
    const end = rich.text.length - at <= maxUnits ? rich.text.length : border(rich, at, at + maxUnits)
    while (first < rich.marks.length && endOf(rich.marks[first]!) <= at) first++
    const near = rich.marks.slice(first, firstFrom(rich.marks, end, first))
    const part = slice({ text: rich.text, marks: near }, at, end)
    parts.push({ text: part.text, marks: fewer(part.marks) })
    at = end
  }
  return parts
}

/** Nothing visible: the messenger would reject it. */
export const isBlank = ({ text }: RichText) => !/[^\s\p{Default_Ignorable_Code_Point}]/u.test(text)

const endOf = ({ offset, length }: { offset: number; length: number }) => offset + length

function firstFrom(marks: RichText["marks"], end: number, from: number): number {
  let at = from
  while (at < marks.length && marks[at]!.offset < end) at++
  return at
}

/** The best place for a cut: before a code block that would fit as a whole, else between paragraphs, lines, words. */
function border({ text, marks }: RichText, from: number, to: number): number {
  const room = to - from
  const block = marks.find(({ kind, offset, length }) => kind === "pre" && offset < to && offset + length > to)
  if (block && block.length <= room && block.offset - from >= room / 4) return block.offset
  // Within a block that must be cut, empty lines are no better than others.
  const signs: [string, number][] = block
    ? [["\n", 0.3]]
    : [
        ["\n\n", 0.5],
        ["\n", 0.4],
      ]
  for (const [sign, least] of signs) {
    const found = text.lastIndexOf(sign, to - sign.length)
    if (found >= from + room * least) return found + sign.length
  }
  for (let blank = lastBlank(text, to); blank > from + room * 0.5; blank = lastBlank(text, blank - 1))
    if (isBorder(text, blank)) return blank
  return lastGrapheme(text, from, to)
}

/** Behind the last space before this position. */
function lastBlank(text: string, to: number): number {
  return text.lastIndexOf(" ", to - 1) + 1
}

function isBorder(text: string, at: number): boolean {
  const from = wholeAt(text, Math.max(0, at - 16))
  return GRAPHEMES.segment(text.slice(from, at + 16)).containing(at - from)?.index === at - from
}

/** Graphemes stay whole unless one alone is too long. */
function lastGrapheme(text: string, from: number, to: number): number {
  const { index = 0 } = GRAPHEMES.segment(text.slice(from, to + 2)).containing(to - from) ?? {}
  return index > 0 ? from + index : Math.max(from + 1, wholeAt(text, to))
}
