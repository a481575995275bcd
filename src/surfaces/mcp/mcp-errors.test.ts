import fc from "fast-check"
import { expect, test } from "vitest"
import { malformedHello } from "./mcp-errors.ts"

const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } }
const hello = (changes: object) => ({ jsonrpc: "2.0", id: 7, method: "initialize", params: { ...params, ...changes } })

test("a whole handshake, another request and a notification are left to the SDK", () => {
  for (const message of [
    hello({}),
    hello({ extra: 1 }),
    { id: 7, method: "ping" },
    { method: "initialize" },
    null,
    5,
    [],
  ])
    expect(malformedHello(message)).toBeUndefined()
})

test.each([
  [{ clientInfo: undefined }, "params.clientInfo is missing: it must be an object"],
  [{ clientInfo: { name: 5, version: "1" } }, "params.clientInfo.name must be a string, got 5"],
  [{ protocolVersion: null }, "params.protocolVersion must be a string, got null"],
  [{ capabilities: [] }, "params.capabilities must be an object, got []"],
])("what is wrong is named, with the value: %j", (changes, told) => {
  expect(malformedHello(hello(changes))).toEqual({
    jsonrpc: "2.0",
    id: 7,
    error: { code: -32_602, message: `initialize: ${told}` },
  })
})

test("whatever the parameters are, the answer is short or there is none", () => {
  fc.assert(
    fc.property(fc.anything(), (anything) => {
      const answer = malformedHello({ id: "a", method: "initialize", params: anything })
      if (answer) expect(answer.error.message.length).toBeLessThan(2_000)
    }),
  )
})
