import { expect, test } from "vitest"
import { ago } from "./text.ts"

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

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
