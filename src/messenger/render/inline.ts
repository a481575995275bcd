import type { RichText, TextMark } from "../../domain/rich-text.ts"

type Style = "bold" | "italic" | "strike"

/** Marks name pieces, not offsets, because earlier pieces may still become shorter. */
interface Writer {
  pieces: string[]
  marks: { mark: MarkKind; from: number; to: number }[]
}
type MarkKind = { kind: Style | "code" } | { kind: "link"; url: string }

interface Opener {
  char: string
  piece: number
}

const ESCAPED = /\\([!-/:-@[-`{-~])/y
const TICKS = /`+/y
const STARS = /\*+|_+|~+/y
const PLAIN = /[^\\`*_~[\]!<&h\n]+|\n/y
const URL = /https?:\/\/[^\s<>"`*)\]}|\\]+/y
const AUTOLINK = /<((?:https?|mailto):[^\s<>]{1,2000})>/y
const TARGET =
  /\(\s{0,9}<?([^\s()<>]{0,2000}(?:\([^\s()<>]{0,500}\)[^\s()<>]{0,500}){0,3})>?(?:\s{1,9}["'(][^\n)]{0,300}["')])?\s{0,9}\)/y
const ENTITY = /&(amp|lt|gt|quot|nbsp|#39);/y
const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: " ", "#39": "'" }
/** Longer runs are drawings. */
const MOST_STARS = 3

/** The marks within a paragraph, in one pass: whatever is not closed is text. */
export function inline(text: string): RichText {
  const out: Writer = { pieces: [], marks: [] }
  const ticks = makeTicks(text)
  let openers: Opener[] = []
  const brackets: { piece: number; openers: number; isImage: boolean }[] = []
  let at = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at += found[0].length
    return found
  }
  const step = () => text[at++]!
  const say = (said: string) => out.pieces.push(said)

  while (at < text.length) {
    const char = text[at]!
    const from = at
    if (char === "\\") say(take(ESCAPED)?.[1] ?? step())
    else if (char === "`") {
      const run = take(TICKS)![0]
      const close = ticks.after(run.length, at)
      if (close === undefined) say(run)
      else {
        const code = text.slice(at, close).replace(/\n[ \t]*/g, " ")
        const bare = /^ .*\S.* $/s.test(code) ? code.slice(1, -1) : code
        out.marks.push({ mark: { kind: "code" }, from: out.pieces.length, to: out.pieces.length + 1 })
        say(bare)
        at = close + run.length
      }
    } else if (char === "*" || char === "_" || char === "~") {
      const run = take(STARS)![0]
      openers = stars(out, openers, run, text[from - 1] ?? " ", text[at] ?? " ")
    } else if (char === "[" || (char === "!" && text[at + 1] === "[")) {
      const isImage = char === "!"
      brackets.push({ piece: out.pieces.length, openers: openers.length, isImage })
      at += isImage ? 2 : 1
      say(isImage ? "![" : "[")
    } else if (char === "]") {
      at++
      const opened = brackets.pop()
      const target = opened && text[at] === "(" ? take(TARGET) : undefined
      if (!opened || !target) say("]")
      else {
        link(out, opened, target[1]!)
        openers = openers.slice(0, opened.openers)
      }
    } else if (char === "<") say(take(AUTOLINK)?.[1] ?? step())
    else if (char === "&") say(ENTITIES[take(ENTITY)?.[1] ?? ""] ?? step())
    else if (char === "h") say(take(URL)?.[0] ?? step())
    else say(take(PLAIN)?.[0] ?? step())
  }
  return written(out)
}

/** The positions of runs of backticks by length, found once: unclosed runs stay linear. */
function makeTicks(text: string) {
  const places = new Map<number, number[]>()
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    const known = places.get(run.length)
    if (known) known.push(index)
    else places.set(run.length, [index])
  }
  for (const list of places.values()) list.reverse()
  return {
    after(length: number, at: number): number | undefined {
      const list = places.get(length) ?? []
      while (list.length > 0 && list.at(-1)! < at) list.pop()
      return list.at(-1)
    },
  }
}

/** Opens or closes emphasis, depending on both neighbours. Returns the open ones. */
function stars(out: Writer, openers: Opener[], run: string, before: string, after: string): Opener[] {
  const char = run[0]!
  const isStrike = char === "~"
  if (run.length > MOST_STARS || (isStrike && run.length !== 2)) {
    out.pieces.push(run)
    return openers
  }
  const [spaceBefore, spaceAfter] = [/\s/.test(before), /\s/.test(after)]
  const [wordBefore, wordAfter] = [/[\p{L}\p{N}_]/u.test(before), /[\p{L}\p{N}_]/u.test(after)]
  // snake_case and 2*3*4 are no emphasis.
  const isInWord = wordBefore && wordAfter && (char === "_" || run.length === 1)
  const mayClose = !spaceBefore && !isInWord
  const mayOpen = !spaceAfter && !isInWord
  let left = run.length
  while (mayClose && left > 0) {
    const index = openers.findLastIndex((opener) => opener.char === char)
    if (index < 0) break
    const { piece } = openers[index]!
    const have = out.pieces[piece]!.length
    const used = Math.min(have, left, 2)
    if (isStrike && used < 2) break
    const kind: Style = isStrike ? "strike" : used === 2 ? "bold" : "italic"
    out.pieces[piece] = out.pieces[piece]!.slice(used)
    out.marks.push({ mark: { kind }, from: piece + 1, to: out.pieces.length })
    openers = openers.slice(0, have === used ? index : index + 1)
    left -= used
  }
  if (left === 0) return openers
  if (mayOpen) openers = [...openers, { char, piece: out.pieces.length }].slice(-MOST_OPEN)
  out.pieces.push(char.repeat(left))
  return openers
}

/** Limits the search for an opener. */
const MOST_OPEN = 16

function link(out: Writer, { piece, isImage }: { piece: number; isImage: boolean }, target: string): void {
  out.pieces[piece] = isImage ? "🖼 " : ""
  const label = out.pieces.slice(piece + 1, piece + 50).join("")
  if (/^(?:https?|mailto|tg):[^\s]/i.test(target) && isUrl(target)) {
    if (label.trim() === "") out.pieces.push(target)
    out.marks.push({ mark: { kind: "link", url: target }, from: piece, to: out.pieces.length })
  }
  // A relative file: append its path unless the text has it.
  else if (target !== "" && !target.includes(label.trim().split(":")[0]!)) out.pieces.push(` (${target})`)
  else if (label.trim() === "") out.pieces.push(target)
}

const isUrl = (text: string) => globalThis.URL.canParse(text)

function written({ pieces, marks }: Writer): RichText {
  const starts: number[] = []
  let length = 0
  for (const piece of pieces) {
    starts.push(length)
    length += piece.length
  }
  starts.push(length)
  return {
    text: pieces.join(""),
    marks: marks.map(({ mark, from, to }): TextMark => {
      const offset = starts[from] ?? length
      return { ...mark, offset, length: (starts[to] ?? length) - offset }
    }),
  }
}
