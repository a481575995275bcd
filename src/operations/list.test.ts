import { describe, expect, test } from "vitest"
import * as z from "zod"
import { mcpTools } from "../surfaces/mcp/mcp.ts"
import { operations } from "./list.ts"
import { commandsOf, type Operation, TOOL_SETS, type ToolSet } from "./operation.ts"

const MAX_TOOLS_BYTES = 14_000
/** Their names say all: a description would cost every agent context and tell it nothing. */
const SELF_EVIDENT = new Set([
  "title",
  "tags",
  "domain",
  "thought",
  "nextThoughtNeeded",
  "thoughtNumber",
  "totalThoughts",
  "isRevision",
  "revisesThought",
  "branchId",
  "current_task",
  "current_task_id",
  "last_completed_step",
  "team",
  "toTeam",
  "fromTeam",
  "threadId",
  "messageId",
  "question",
  "message",
  "waitForResponse",
  "ttlDays",
  "operation",
])

const propertiesOf = (op: Operation) =>
  (z.toJSONSchema(op.input, { io: "input" }).properties ?? {}) as Record<string, { description?: string }>

test("no two operations have the same name or the same command", () => {
  const names = operations.map((op) => op.name)
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  const commands = operations.filter((op) => op.on.includes("cli")).flatMap(commandsOf)
  expect(commands.filter((command, index) => commands.indexOf(command) !== index)).toEqual([])
})

describe.each(operations.map((op) => [op.name, op] as const))("%s", (_, op) => {
  test("says in one sentence what it does, and is offered somewhere", () => {
    expect(op.summary).toMatch(/^[A-Z].{10,200}$/)
    expect(op.on.length).toBeGreaterThan(0)
  })

  test("describes every input whose name does not say it all", () => {
    const silent = Object.entries(propertiesOf(op)).filter(
      ([name, { description }]) => description === undefined && !SELF_EVIDENT.has(name),
    )
    expect(silent.map(([name]) => name)).toEqual([])
  })

  test("refuses parameters that it does not know", () => {
    expect(op.input.safeParse({ surely_not_a_parameter: 1 }).error?.issues.map((issue) => issue.code)).toContain(
      "unrecognized_keys",
    )
  })

  test("takes by position only what it has, the needed ones first", () => {
    const { properties = {}, required = [] } = z.toJSONSchema(op.input, { io: "input" })
    const positional = op.positional ?? []
    expect(positional.filter((name) => !(name in properties))).toEqual([])
    const needed = positional.map((name) => required.includes(name))
    expect(needed).toEqual(needed.toSorted((a, b) => Number(b) - Number(a)))
  })

  test("is in a set of tools if it is a tool", () => {
    expect(op.on.includes("mcp")).toBe(op.tool !== undefined)
    if (op.tool) expect(TOOL_SETS).toContain(op.tool.set)
  })
})

describe("the list of tools that every agent pays for", () => {
  test("stays small", () => {
    expect(Buffer.byteLength(JSON.stringify({ tools: mcpTools({ operations }).list }))).toBeLessThan(MAX_TOOLS_BYTES)
  })

  test("has names that every client accepts", () => {
    for (const { name } of mcpTools({ operations }).list) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  test("can be narrowed to sets", () => {
    const names = (...toolSets: ToolSet[]) => mcpTools({ operations, toolSets }).list.map((tool) => tool.name)
    expect(names("recovery")).toEqual(expect.arrayContaining(["init", "thought"]))
    expect(names("teams")).not.toContain("init")
    expect(names()).toEqual([])
  })
})
