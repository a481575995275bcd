export interface TextPart {
  start: number
  end: number
  isCode: boolean
}

/** Splits a text into prose and code: fences, indented blocks and diffs. */
export function partsOf(text: string, end: number): TextPart[] {
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
