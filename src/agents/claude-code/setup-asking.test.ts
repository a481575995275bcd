import { describe, expect, test } from "vitest"
import { claudeAsking } from "./setup-asking.ts"

const suggestions = [
  { type: "addDirectories", directories: ["/srv"], destination: "session" },
  { type: "setMode", mode: "acceptEdits", destination: "session" },
]
const asked = (values: object = {}) => ({
  hook_event_name: "PermissionRequest",
  tool_name: "Bash",
  tool_input: { command: "ls", description: "List" },
  permission_suggestions: suggestions,
  ...values,
})
const printed = (payload: Record<string, unknown>, answer: Parameters<typeof claudeAsking.answer>[1]) =>
  JSON.parse(claudeAsking.answer(payload, answer)).hookSpecificOutput

describe("Claude Code's hook that asks", () => {
  test("is a question with its rules named, and says which sub-agent it is of", () => {
    expect(claudeAsking.question(asked())).toMatchObject({
      request: {
        tool: "Bash",
        title: "Bash: List",
        suggestions: [{ label: "allow /srv (session)" }, {}],
        questions: [],
      },
      subagent: null,
      isShown: true,
    })
    expect(claudeAsking.question(asked({ agent_id: "a1", agent_type: "Explore" }))).toMatchObject({
      subagent: "Explore",
      isShown: false,
    })
    expect(claudeAsking.question({ hook_event_name: "PermissionRequest" })).toBeUndefined()
    expect(claudeAsking.question(asked({ hook_event_name: "PreToolUse" }))).toBeUndefined()
  })

  test.each<[string, Parameters<typeof claudeAsking.answer>[1], object]>([
    ["a yes", { behavior: "allow" }, { behavior: "allow" }],
    ["a rule", { behavior: "allow", always: 0 }, { behavior: "allow", updatedPermissions: [suggestions[0]] }],
    ["a rule that was never offered", { behavior: "allow", always: 7 }, { behavior: "allow" }],
    ["a no", { behavior: "deny", message: "why" }, { behavior: "deny", message: "why" }],
    [
      "a no that ends the turn",
      { behavior: "deny", message: "why", interrupt: true },
      { behavior: "deny", message: "why", interrupt: true },
    ],
    [
      "another input",
      { behavior: "allow", updatedInput: { command: "pwd" } },
      { behavior: "allow", updatedInput: { command: "pwd" } },
    ],
  ])("prints %s, and no more than that", (_, answer, decision) => {
    expect(printed(asked(), answer)).toEqual({ hookEventName: "PermissionRequest", decision })
  })

  test("a plan is allowed with its input, because a plain yes is ignored", () => {
    const plan = asked({ tool_name: "ExitPlanMode", tool_input: {}, permission_suggestions: undefined })
    expect(printed(plan, { behavior: "allow" }).decision).toEqual({ behavior: "allow", updatedInput: {} })
  })

  test("what was done later is known again by the tool and its whole input", () => {
    const done = { tool_name: "Bash", tool_input: { command: "ls", description: "List" } }
    expect(claudeAsking.isDone(asked(), done)).toBe(true)
    expect(claudeAsking.isDone(asked(), { ...done, tool_input: { command: "ls -a" } })).toBe(false)
    expect(claudeAsking.isDone(asked(), { ...done, tool_name: "Write" })).toBe(false)
  })
})

describe("a form of an MCP server", () => {
  const form = (properties: object, required = Object.keys(properties)) => ({
    hook_event_name: "Elicitation",
    mcp_server_name: "shop",
    message: "Which?",
    requested_schema: { type: "object", properties, required },
  })
  const fields = {
    size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
    colour: { type: "string", oneOf: [{ const: "#f00", title: "Red" }] },
    sure: { type: "boolean" },
    count: { type: "integer" },
    name: { type: "string", title: "Your name" },
  }

  test("becomes questions, and its answers have the types that it wants", () => {
    const question = claudeAsking.question(form(fields))!
    expect(question.isShown, "its dialog comes after the hook").toBe(false)
    const shape = question.request.questions!.map(({ options, isOpen }) => [options.map(({ label }) => label), isOpen])
    expect(shape).toEqual([
      [["Small", "Large"], false],
      [["Red"], false],
      [["yes", "no"], false],
      [[], true],
      [[], true],
    ])
    const answers = { size: ["Large"], colour: ["Red"], sure: ["no"], count: ["3"], name: ["Ada"] }
    expect(printed(form(fields), { behavior: "allow", answers })).toEqual({
      hookEventName: "Elicitation",
      action: "accept",
      content: { size: "l", colour: "#f00", sure: false, count: 3, name: "Ada" },
    })
  })

  test("is declined, or cancelled", () => {
    expect(printed(form({}), { behavior: "deny", message: "" }).action).toBe("decline")
    expect(printed(form({}), { behavior: "deny", message: "", interrupt: true }).action).toBe("cancel")
  })

  test("leaves out what need not be answered, and is left to the terminal where a line cannot answer it", () => {
    expect(claudeAsking.question(form(fields, ["sure"]))!.request.questions).toHaveLength(1)
    expect(claudeAsking.question(form({ all: { type: "array" } }))).toBeUndefined()
  })
})
