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
