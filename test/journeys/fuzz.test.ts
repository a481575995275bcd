import { expect, test } from "vitest"
import { fuzz } from "../../scripts/fuzz.ts"
import { fuzzMcp } from "../../scripts/fuzz-mcp.ts"

test("no caller does what it may not, and no input is a bug: every operation, every kind of caller", async () => {
  const { requests, troubles } = await fuzz(4)
  expect(troubles).toEqual([])
  expect(requests).toBeGreaterThan(1_000)
}, 240_000)

test("no MCP request does what it may not, is a bug or hangs: every tool, both eras, every way in", async () => {
  const { requests, troubles } = await fuzzMcp(4)
  expect(troubles).toEqual([])
  expect(requests).toBeGreaterThan(1_000)
}, 240_000)
