import { once } from "node:events"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { operations } from "../../src/operations/list.ts"
import { TOOL_SETS } from "../../src/operations/operation.ts"
import { makeHome, spawnCli, type TestHome } from "../fixtures/daemon.ts"
import { connect, type Era, type McpClient, type Transport } from "../fixtures/mcp.ts"
import { proves } from "../promises.ts"

/** What a list of tools may cost every agent in every conversation. */
const LIST_BYTES = 14 * 1024

const offered = operations.filter((op) => op.on.includes("mcp"))

let home: TestHome
beforeAll(async () => {
  home = makeHome()
  await home.run("start")
})
afterAll(() => home.dispose())

const combinations: [Transport, Era][] = [
  ["stdio", "legacy"],
  ["stdio", "modern"],
  ["http", "legacy"],
  ["http", "modern"],
]

describe.each(combinations)(`${proves("mcp.both-eras")} A client over %s, %s era`, (transport, era) => {
  let agent: McpClient
  beforeAll(async () => {
    agent = await connect(home, { transport, era })
  })
  afterAll(() => agent.close())

  test("finds every tool with its schemas, and hints that follow from its effect", async () => {
    const { tools } = await agent.client.listTools()
    expect(tools.map((tool) => tool.name).sort()).toEqual(offered.map((op) => op.name).sort())
    for (const op of offered) {
      const tool = tools.find(({ name }) => name === op.name)!
      expect(tool.description).toBe(op.summary)
      expect(Object.keys(tool.inputSchema.properties!)).toEqual(Object.keys(op.input.shape))
      expect(Object.keys(tool.outputSchema!.properties!)).toEqual(Object.keys(op.output.shape))
      // What is always there is seen in the answer; a list of it would be paid for by every agent.
      expect(tool.outputSchema!.required).toBeUndefined()
      const { readOnlyHint = false, destructiveHint = !readOnlyHint } = tool.annotations!
      expect({ readOnlyHint, destructiveHint }).toEqual({
        readOnlyHint: op.effect === "read",
        destructiveHint: op.effect === "destroy",
      })
    }
  })

  test("has the few key tools at hand without a search for tools", async () => {
    const { tools } = await agent.client.listTools()
    const always = tools.filter((tool) => tool._meta?.["anthropic/alwaysLoad"] === true).map((tool) => tool.name)
    expect(always).toEqual(["init", "thought", "search_conversation_history", "resume_session_context", "task_state"])
  })

  test("pays little for the list of tools", async () => {
    const { tools } = await agent.client.listTools()
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(LIST_BYTES)
  })

  test("gets the server's instructions", () => {
    expect(agent.client.getServerVersion()?.name).toBe("throughline")
    expect(agent.client.getInstructions()).toContain('init {operation:"load_context"}')
  })

  test("gets the same answer as data and as words", async () => {
    const title = `${transport} ${era}`
    const { session } = await agent.call<{ session: { id: string } }>("init", { operation: "start_new", title })
    const kept = await agent.call("thought", {
      thought: `said over ${title}`,
      nextThoughtNeeded: false,
      sessionId: session.id,
    })
    expect(kept).toMatchObject({ sessionId: session.id, thoughtNumber: 1, thoughtCount: 1 })
    const load = { operation: "load_context", sessionId: session.id }
    expect(await agent.call("init", load)).toMatchObject({ thoughts: [{ thought: `said over ${title}` }] })
    expect(await agent.text("init", load)).toContain(`1. said over ${title}`)
  })

  test("learns the name of the tool or parameter that does not exist", async () => {
    expect(await agent.refused("nonsense", {})).toMatch(/^unknown_operation: .*"nonsense"/)
    const refusal = await agent.refused("init", { operation: "get_state", sessionid: "x" })
    expect(refusal).toMatch(/^bad_input: unknown parameter "sessionid" \(known: operation, sessionId, /)
  })
})

describe("throughline mcp --tools", () => {
  test.each(TOOL_SETS)("offers the set %s and nothing else", async (set) => {
    const agent = await connect(home, { args: ["--tools", set] })
    const { tools } = await agent.client.listTools()
    const inSet = offered.filter((op) => op.tool?.set === set).map((op) => op.name)
    expect(tools.map((tool) => tool.name)).toEqual(inSet)
    const outside = offered.find((op) => op.tool?.set !== set)
    if (outside) expect(await agent.refused(outside.name, {})).toMatch(/^unknown_operation/)
    await agent.close()
  })

  test("takes several sets", async () => {
    const agent = await connect(home, { args: ["--tools", TOOL_SETS.join(",")] })
    expect((await agent.client.listTools()).tools).toHaveLength(offered.length)
    await agent.close()
  })

  test("refuses an unknown tool set, and lists the known ones", async () => {
    const child = spawnCli(home, ["mcp", "--tools", "recovery,nonsense"])
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")])
    expect(code).toBe(2)
    expect(said).toContain('"nonsense" is not one of recovery, ')
  })
})
