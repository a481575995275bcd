import { expect, test } from "vitest"
import { HOUR_MS, MINUTE_MS } from "../lib/time.ts"
import { ago } from "./text.ts"

test.each([
  [-5_000, "just now"],
  [59_999, "just now"],
  [MINUTE_MS, "1 minute ago"],
  [2 * MINUTE_MS + 1, "2 minutes ago"],
  [3 * HOUR_MS, "3 hours ago"],
  [24 * HOUR_MS, "1 day ago"],
  [400 * 24 * HOUR_MS, "400 days ago"],
])("%d milliseconds are told as %s", (ms, told) => {
  expect(ago(ms)).toBe(told)
})
