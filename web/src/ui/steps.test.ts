import { expect, test } from "vitest"
import { stepsOf } from "./steps.ts"
import type { OutlineTurn } from "./turn.tsx"

/** Such as "1 prompt" or "3 tool_result of a". */
const turn = (told: string): OutlineTurn => {
  const [id, kind, , toolCallId] = told.split(" ")
  return {
    id: Number(id),
    kind,
    head: told,
    at: "2026-01-01T00:00:00Z",
    ...(toolCallId && { toolCallId }),
  } as OutlineTurn
}
const steps = (...told: string[]) =>
  stepsOf(told.map(turn)).map(({ turn, result }) => `${turn.id}${result ? `+${result.id}` : ""}`)

test.each([
  [
    "a result stands with its call",
    ["1 prompt", "2 tool_call of a", "3 tool_result of a", "4 reply"],
    ["1", "2+3", "4"],
  ],
  [
    "results that come in another order find theirs",
    ["1 tool_call of a", "2 tool_call of b", "3 tool_result of b", "4 tool_result of a"],
    ["1+4", "2+3"],
  ],
  ["a result that comes late does too", ["1 tool_call of a", "2 reply", "3 tool_result of a"], ["1+3", "2"]],
  ["a result without a call stands alone", ["1 tool_result of a", "2 tool_result"], ["1", "2"]],
  ["a second result stands alone", ["1 tool_call of a", "2 tool_result of a", "3 tool_result of a"], ["1+2", "3"]],
  [
    "a call that is made again has its own",
    ["1 tool_call of a", "2 tool_result of a", "3 tool_call of a", "4 tool_result of a"],
    ["1+2", "3+4"],
  ],
  ["a call without an id waits for nothing", ["1 tool_call", "2 tool_result"], ["1", "2"]],
])("%s", (_, told, expected) => {
  expect(steps(...told)).toEqual(expected)
})
