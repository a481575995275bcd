import type { ConsoleScreen } from "../../../domain/agent-console.ts"
import type { PaneLook } from "../../../domain/panes.ts"

/**
 * The draft at the cursor, if that is in an agent's input line: a prompt sign in the first column, further lines indented
 * below it, and rules above and below if the agent draws them. Undefined elsewhere.
 */
export function inputLine(
  { lines, bright, cursor }: Pick<PaneLook, "lines" | "bright" | "cursor">,
  { prompt, rule }: { prompt: RegExp; rule?: RegExp },
): string | undefined {
  let first = cursor.row
  while (first > 0 && isIndented(lines[first])) first--
  if (!prompt.test(lines[first] ?? "")) return undefined
  let last = cursor.row
  if (rule) {
    while (last + 1 < lines.length && isIndented(lines[last + 1])) last++
    if (!rule.test(lines[first - 1] ?? "") || !rule.test(lines[last + 1] ?? "")) return undefined
  }
  const typed = bright.slice(first, last + 1).map((line) => line.slice(INDENT))
  return typed.join("\n").trim()
}

/** A screen without an input line: a question that Enter would answer, or unknown. */
export function dialogIn(lines: readonly string[], sign: RegExp): ConsoleScreen {
  const at = lines.findIndex((line) => sign.test(line))
  if (at < 0) return { kind: "unknown" }
  // Text after the question mark explains the question.
  const asked = lines.slice(0, at + 1).findLast((line) => /\?(\s|$)/.test(line))
  return { kind: "dialog", what: (/^.*\?(?=\s|$)/.exec(asked ?? "")?.[0] ?? lines[at]!).trim() }
}

const INDENT = 2
const isIndented = (line: string | undefined) =>
  line !== undefined && (line === "" || line.startsWith(" ".repeat(INDENT)))
