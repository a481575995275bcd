import { withoutAnsi } from "../../domain/text.ts"
import type { TurnKind } from "../../domain/turn.ts"
import { partsOf, type TextPart } from "./parts.ts"
import { eachWordBetween } from "./tokens.ts"

export type DocKind = TurnKind | "thought"

export interface Weighed {
  /** Word → weighted frequency. */
  words: Map<string, number>
  /** The weighted number of words, so that noise does not make a document long. */
  length: number
}

/** Weight of a word by the kind of its document. Changes are gated by bench/quality. */
export const WEIGHTS: Readonly<Record<DocKind, number>> = {
  prompt: 1,
  reply: 1,
  summary: 1,
  thought: 1,
  reasoning: 0.5,
  tool_call: 0.35,
  tool_result: 0.2,
  reset: 0.2,
}
/** Factor for code and diffs inside prose. */
const CODE_WEIGHT = 0.3

const PROSE_CHARS = 256 * 1024
/** People remember the first and last output of a tool. */
const TOOL_HEAD_CHARS = 12 * 1024
const TOOL_TAIL_CHARS = 4 * 1024

export function weigh(kind: DocKind, text: string): Weighed {
  const weighed: Weighed = { words: new Map(), length: 0 }
  const isTool = kind === "tool_call" || kind === "tool_result"
  const plain = withoutAnsi(kind === "tool_call" ? withoutEscapes(text) : text)
  for (const { start, end, isCode } of isTool ? headAndTail(plain) : partsOf(plain, cutBefore(plain, PROSE_CHARS)))
    add(weighed, plain, start, end, WEIGHTS[kind] * (isCode ? CODE_WEIGHT : 1))
  return weighed
}

function add(weighed: Weighed, text: string, start: number, end: number, weight: number): void {
  const { words } = weighed
  let count = 0
  eachWordBetween(text, start, end, (word) => {
    words.set(word, (words.get(word) ?? 0) + weight)
    count++
  })
  weighed.length += count * weight
}

function headAndTail(text: string): TextPart[] {
  if (text.length <= TOOL_HEAD_CHARS + TOOL_TAIL_CHARS) return [{ start: 0, end: text.length, isCode: false }]
  return [
    { start: 0, end: cutBefore(text, TOOL_HEAD_CHARS), isCode: false },
    { start: cutBefore(text, text.length - TOOL_TAIL_CHARS), end: text.length, isCode: false },
  ]
}

/** A call's input is JSON: the n of a \n must not join the next word. */
function withoutEscapes(text: string): string {
  if (!text.includes("\\")) return text
  return text.replace(/\\(?:u[\da-fA-F]{4}|.)/g, (written) =>
    written.length === 6
      ? String.fromCharCode(Number.parseInt(written.slice(2), 16))
      : BLANKS.has(written)
        ? "  "
        : written,
  )
}

const BLANKS = new Set(["\\n", "\\r", "\\t", "\\b", "\\f"])

/** At `chars`, or a little before it to avoid splitting a word. */
function cutBefore(text: string, chars: number): number {
  if (chars >= text.length) return text.length
  for (let at = chars; at > chars - 100 && at > 0; at--) if (/\s/.test(text[at]!)) return at
  return chars
}
