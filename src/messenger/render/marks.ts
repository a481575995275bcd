import type { RichText, TextMark } from "../../domain/rich-text.ts"

/** Telegram's limit. */
const MOST_MARKS = 100

/** Which of two overlapping marks wins. */
const RANK: Record<TextMark["kind"], number> = {
  pre: 0,
  link: 1,
  code: 2,
  quote: 3,
  bold: 4,
  italic: 5,
  strike: 6,
  spoiler: 7,
}
const isStyle = ({ kind }: TextMark) => RANK[kind] >= RANK.bold
const endOf = ({ offset, length }: TextMark) => offset + length

/**
 * Marks as every messenger accepts them: inside of the text, on whole characters, in order, nested or disjoint. Code contains
 * nothing and is only within quotes; links and quotes are not nested.
 */
export function legal({ text, marks }: RichText): RichText {
  const whole = marks.flatMap((mark) => inside(text, mark))
  return { text, marks: nested(joined(cutApart(whole))) }
}

function inside(text: string, mark: TextMark): TextMark[] {
  const offset = wholeAt(text, Math.max(0, mark.offset))
  const end = wholeAt(text, Math.min(text.length, endOf(mark)))
  return end > offset ? [{ ...mark, offset, length: end - offset }] : []
}

/** Never between the halves of a surrogate pair. */
export const wholeAt = (text: string, at: number) =>
  isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at)) ? at - 1 : at
const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

interface Piece {
  /** Adjacent pieces of the same mark or style are joined again. */
  of: TextMark
  /** A quote contains other marks and is never within one. */
  quote: TextMark | undefined
  offset: number
  end: number
}

/** Cuts all marks at each edge, and keeps the compatible ones of each stretch. */
function cutApart(marks: TextMark[]): Piece[] {
  const edges = [...new Set(marks.flatMap((mark) => [mark.offset, endOf(mark)]))].sort((a, b) => a - b)
  const waiting = marks.toSorted((a, b) => b.offset - a.offset)
  let active: TextMark[] = []
  const pieces: Piece[] = []
  for (const [index, offset] of edges.entries()) {
    active = active.filter((mark) => endOf(mark) > offset)
    while (waiting.length > 0 && waiting.at(-1)!.offset === offset) active.push(waiting.pop()!)
    // Thousands of marks over one place would take quadratic time.
    active = active.slice(0, 32)
    const end = edges[index + 1]
    if (end === undefined) break
    const found = together(active)
    const quote = found.find(({ kind }) => kind === "quote")
    for (const of of found) pieces.push({ of, quote, offset, end })
  }
  return pieces
}

function together(active: readonly TextMark[]): TextMark[] {
  const best = new Map<TextMark["kind"], TextMark>()
  for (const mark of active) if (!best.has(mark.kind)) best.set(mark.kind, mark)
  const quote = best.get("quote")
  if (best.has("pre")) return [best.get("pre")!]
  const code = best.has("link") ? undefined : best.get("code")
  if (code) return quote ? [quote, code] : [code]
  best.delete("code")
  return [...best.values()]
}

function joined(pieces: readonly Piece[]): TextMark[] {
  const open = new Map<unknown, Piece>()
  const done: Piece[] = []
  for (const piece of pieces) {
    const key = isStyle(piece.of) ? piece.of.kind : piece.of
    const before = open.get(key)
    if (before?.end === piece.offset && before.quote === piece.quote) before.end = piece.end
    else {
      const next = { ...piece }
      open.set(key, next)
      done.push(next)
    }
  }
  return done.map(({ of, offset, end }) => ({ ...of, offset, length: end - offset }))
}

const inOrder = (a: TextMark, b: TextMark) => a.offset - b.offset || b.length - a.length || order(a) - order(b)
/** Outermost first: quotes, links, styles, code. */
const order = ({ kind }: TextMark) =>
  ["quote", "link", "bold", "italic", "strike", "spoiler", "code", "pre"].indexOf(kind)

/** Splits marks that cross the end of the one around them. */
function nested(marks: TextMark[]): TextMark[] {
  const todo = marks.toSorted((a, b) => inOrder(b, a))
  const done: TextMark[] = []
  let around: TextMark[] = []
  while (todo.length > 0) {
    const mark = todo.pop()!
    around = around.filter((one) => endOf(one) > mark.offset)
    const border = around.find((one) => endOf(one) < endOf(mark))
    if (border) {
      const at = endOf(border)
      put(todo, { ...mark, length: at - mark.offset })
      put(todo, { ...mark, offset: at, length: endOf(mark) - at })
      continue
    }
    around.push(mark)
    done.push(mark)
  }
  return done
}

/** Marks over one place are few, so the position is near the end. */
function put(todo: TextMark[], mark: TextMark): void {
  let at = todo.length
  while (at > 0 && inOrder(todo[at - 1]!, mark) < 0) at--
  todo.splice(at, 0, mark)
}

/** At most the messenger's limit: links and code before mere styles. */
export function fewer(marks: readonly TextMark[]): readonly TextMark[] {
  if (marks.length <= MOST_MARKS) return marks
  const kept = new Set(marks.toSorted((a, b) => RANK[a.kind] - RANK[b.kind]).slice(0, MOST_MARKS))
  return marks.filter((mark) => kept.has(mark))
}

/** A part of the text with its marks. */
export function slice({ text, marks }: RichText, from: number, to: number): RichText {
  const cut = marks.flatMap((mark) => {
    const [offset, end] = [Math.max(mark.offset, from), Math.min(endOf(mark), to)]
    return end > offset ? [{ ...mark, offset: offset - from, length: end - offset }] : []
  })
  return { text: text.slice(from, to), marks: cut }
}

/** Concatenates texts. */
export function concat(...texts: readonly RichText[]): RichText {
  const marks: TextMark[] = []
  let text = ""
  for (const one of texts) {
    for (const mark of one.marks) marks.push({ ...mark, offset: mark.offset + text.length })
    text += one.text
  }
  return { text, marks }
}

/** A text under one mark. */
export const marked = (kind: Exclude<TextMark["kind"], "link">, text: string): RichText => ({
  text,
  marks: text === "" ? [] : [{ kind, offset: 0, length: text.length }],
})
