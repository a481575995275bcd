import { withoutAnsi } from "../../domain/text.ts"
import type { TurnKind } from "../../domain/turn.ts"
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

interface TextPart {
  start: number
  end: number
  isCode: boolean
}

/** Splits a text into prose and code: fences, indented blocks and diffs. */
function partsOf(text: string, end: number): TextPart[] {
  if (!MAY_HAVE_CODE.test(text)) return [{ start: 0, end, isCode: false }]
  const parts: TextPart[] = []
  const state: State = { fence: "", isDiff: false, isIndented: false, afterBlank: true }
  let at = 0
  while (at < end) {
    const newline = text.indexOf("\n", at)
    const next = newline < 0 || newline >= end ? end : newline + 1
    const isCode = step(state, text.slice(at, Math.min(next, at + LINE_HEAD)))
    const last = parts.at(-1)
    if (last?.isCode === isCode) last.end = next
    else parts.push({ start: at, end: next, isCode })
    at = next
  }
  return parts
}

/** Enough of a line to classify it. */
const LINE_HEAD = 120
const MAY_HAVE_CODE = /```|~~~|\n(?: {4}|\t)|^(?: {4}|\t)|^diff --git |^@@ -/m

interface State {
  fence: string
  isDiff: boolean
  isIndented: boolean
  afterBlank: boolean
}

/** Whether a line is code. A line that opens a fence or names a diff's file is not: it describes the code. */
function step(state: State, line: string): boolean {
  const isBlank = line.trim() === ""
  const wasAfterBlank = state.afterBlank
  state.afterBlank = isBlank
  const fence = /^\s{0,12}(?:>\s?)?(`{3,}|~{3,})/.exec(line)?.[1]
  if (state.fence !== "") {
    const closes = fence !== undefined && fence[0] === state.fence[0] && fence.length >= state.fence.length
    if (closes && line.trim().replace(/^>\s?/, "") === fence) state.fence = ""
    else return !NAMES_FILE.test(line)
    return false
  }
  if (fence !== undefined) {
    state.fence = fence
    return false
  }
  if (/^(?:diff --git |@@ -)/.test(line)) state.isDiff = true
  else if (state.isDiff && !/^(?:[ +\-@\\]|index |new file|deleted file|similarity|rename)/.test(line))
    state.isDiff = false
  if (state.isDiff) return !NAMES_FILE.test(line)
  if (isBlank) return state.isIndented
  state.isIndented =
    /^(?: {4}|\t)/.test(line) && (state.isIndented || wasAfterBlank) && !/^\s+(?:[-*+]|\d+[.)])\s/.test(line)
  return state.isIndented
}

const NAMES_FILE = /^(?:diff --git |--- |\+\+\+ |rename )/
