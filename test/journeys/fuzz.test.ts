import { expect, test } from "vitest"
import { fuzz } from "../../scripts/fuzz.ts"
import { fuzzMcp } from "../../scripts/fuzz-mcp.ts"

test("no caller exceeds its rights, and no input causes an internal error: every operation, every kind of caller", async () => {
  const { requests, troubles } = await fuzz(4)
  expect(troubles).toEqual([])
  expect(requests).toBeGreaterThan(1_000)
}, 240_000)

test("no MCP request exceeds its rights, causes an internal error or hangs: every tool, both eras, every transport", async () => {
  const { requests, troubles } = await fuzzMcp(4)
  expect(troubles).toEqual([])
  expect(requests).toBeGreaterThan(1_000)
}, 240_000)
