import type { OutlineTurn } from "./turn.tsx"

/** One thing to look at: a turn, and what came of it where it is a tool's call. */
export interface Step {
  turn: OutlineTurn
  result?: OutlineTurn
}

/** A result stands with its call, wherever it came: who reads sees what was done, and opens it to see what came of it. */
export function stepsOf(turns: readonly OutlineTurn[]): Step[] {
  const steps: Step[] = []
  const calls = new Map<string, Step>()
  for (const turn of turns) {
    const { kind, toolCallId } = turn
    const call = kind === "tool_result" && toolCallId !== undefined ? calls.get(toolCallId) : undefined
    if (call && call.result === undefined) {
      call.result = turn
      continue
    }
    const step: Step = { turn }
    if (kind === "tool_call" && toolCallId !== undefined) calls.set(toolCallId, step)
    steps.push(step)
  }
  return steps
}

/** What tells most about a call, in the order in which it is looked for. */
const TELLING = [
  "command",
  "cmd",
  "file_path",
  "filePath",
  "path",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "skill",
  "description",
  "prompt",
  "question",
  "title",
]

/** The one argument of a call that says what it is about; the call may have been cut off in the middle. */
export function tellingPart(call: string): string {
  if (!call.startsWith("{")) return call
  for (const name of TELLING) {
    const found = new RegExp(`"${name}"\\s*:\\s*(\\[)?"((?:[^"\\\\]|\\\\.)*)`).exec(call)
    if (!found) continue
    // A list of words is a command as it is started.
    if (found[1])
      return unquoted(
        /\[([^\]]*)/
          .exec(call.slice(found.index))![1]!
          .replaceAll(/",\s*"/g, " ")
          .replaceAll('"', ""),
      )
    return unquoted(found[2]!)
  }
  return call
}

function unquoted(text: string): string {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    // It was cut off inside of an escape.
    return text
  }
}
