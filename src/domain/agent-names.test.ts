import { expect, test } from "vitest"
import { agentNamed, neededAgent } from "./agent-names.ts"

const agents = [
  { id: "claude-code", label: "Claude Code" },
  { id: "gemini-cli", label: "Gemini CLI" },
  { id: "cursor", label: "Cursor" },
  { id: "cursor-cli", label: "Cursor CLI" },
  { id: "roo-code", label: "Roo Code" },
  { id: "roo-cloud", label: "Roo Cloud" },
]

test.each([
  ["gemini", "gemini-cli"],
  ["Claude", "claude-code"],
  ["claude code", "claude-code"],
  ["cursor", "cursor"],
  ["gemini-cli", "gemini-cli"],
  ["roo", undefined],
  ["gem", undefined],
  ["", undefined],
])("%s means %s", (name, id) => {
  expect(agentNamed(agents, name)).toBe(id)
})

test("a name that fits none, or two, is refused with those that there are", () => {
  expect(() => neededAgent(agents, "roo", "to")).toThrow(/^to: unknown agent "roo". Choose from claude-code, /)
})
