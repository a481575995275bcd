import { expect, test } from "vitest"
import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { local } from "../operations/invoke.ts"
import { type Operation, operation } from "../operations/operation.ts"
import type { Services } from "../operations/services.ts"
import { type Heard, mcpTools } from "./mcp.ts"
import { quickCalls } from "./mcp-quick.ts"

test("a call is the SDK's until it has let one through, and then whenever it is more than name and arguments", async () => {
  const { quick, heard, sent } = start(async () => ({ said: "yes" }))
  delete heard.envelope
  expect(quick(call(1))).toBe(false)
  heard.envelope = ""
  for (const other of [
    { ...call(2), id: 1.5 },
    { ...call(2), more: 1 },
    { ...call(2), params: { name: "say", requestState: "s" } },
    { ...call(2), params: { name: "say", inputResponses: {} } },
    { ...call(2), params: { name: "say", _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } },
    { ...call(2), params: { name: "say", _meta: { progressToken: {} } } },
    { ...call(2), method: "tools/list" },
    [call(2)],
    null,
    undefined,
  ])
    expect(quick(other)).toBe(false)
  expect(quick(call(3))).toBe(true)
  await settled()
  expect(sent.map((line) => JSON.parse(line).id)).toEqual([3])
})

test("a call that is cancelled is not answered, and the others are", async () => {
  const { promise, resolve } = Promise.withResolvers<{ said: string }>()
  const { quick, sent } = start(() => promise)
  for (const id of [1, "two", 3]) quick(call(id))
  // The SDK hears of it as well: the call may be one of its own.
  expect(quick({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "two" } })).toBe(false)
  resolve({ said: "late" })
  await settled()
  expect(sent.map((line) => JSON.parse(line).id)).toEqual([1, 3])
})

test("a second call under the id of one that is under way is the SDK's", async () => {
  const { promise, resolve } = Promise.withResolvers<{ said: string }>()
  const { quick, sent } = start(() => promise)
  expect([quick(call(1)), quick(call(1))]).toEqual([true, false])
  resolve({ said: "once" })
  await settled()
  expect(sent).toHaveLength(1)
  expect(quick(call(1))).toBe(true)
})

test("a call for which the client must be asked for its roots is given back to the SDK", async () => {
  const { quick, sent, givenBack } = start(async () => {
    throw new Failure("root_needed", "the client has not named its roots yet")
  })
  expect(quick(call(1))).toBe(true)
  await settled()
  expect(sent).toEqual([])
  expect(givenBack).toEqual([call(1)])
})

const call = (id: string | number) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "say" } })

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** One operation that is run as all are. */
function start(run: () => Promise<{ said: string }>) {
  const say = operation({
    name: "say",
    summary: "Says it",
    effect: "read",
    access: "anyone",
    on: ["mcp"],
    tool: { set: "recovery" },
    input: z.strictObject({}),
    output: z.object({ said: z.string() }),
    text: ({ said }) => said,
    run,
  }) as unknown as Operation
  const heard: Heard = { envelope: "" }
  const sent: string[] = []
  const givenBack: unknown[] = []
  const quick = quickCalls({
    options: { operations: [say], call: local([say], {} as Services), version: "1.0.0" },
    tools: mcpTools({ operations: [say] }),
    caller: { surface: "mcp" },
    heard,
    send: (line) => sent.push(line),
    giveBack: (message) => givenBack.push(message),
  })
  return { quick, heard, sent, givenBack }
}
