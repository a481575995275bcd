import { expect, test } from "vitest"
import { shown } from "../../../test/fixtures/shown.ts"
import { amount, lasting, Time } from "./time.tsx"

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [SECOND, "1 s"],
  [59.6 * SECOND, "60 s"],
  [MINUTE, "1 min"],
  [1.5 * MINUTE, "1.5 min"],
  [15 * MINUTE, "15 min"],
  [4 * HOUR, "4 h"],
  [DAY, "1 d"],
  [13 * DAY, "2 weeks"],
])("%d ms last %s", (ms, words) => {
  expect(lasting(ms)).toBe(words)
})

// The page's clock moves on every twenty seconds.
test.each([
  [-HOUR, /^now$/],
  [5 * SECOND, /^now$/],
  [50 * SECOND, /^[345]\d s ago$/],
  [5.5 * MINUTE, /^5 min ago$/],
  [26 * HOUR, /^1 d ago$/],
  [800 * DAY, /20\d\d/],
])("%d ms ago is told as %s", (ms, words) => {
  const said = shown(Time({ at: new Date(Date.now() - ms).toISOString() }).props.children)
  expect(said).toMatch(words)
})

test.each([
  [{ promptCount: 1, thoughtCount: 0 }, "1 prompt"],
  [{ promptCount: 0, thoughtCount: 2 }, "2 thoughts"],
  [{ promptCount: 1200, thoughtCount: 9 }, /^1.?200 prompts$/],
  [{ promptCount: 0, thoughtCount: 0 }, "0 prompts"],
])("%o has %s", (session, words) => {
  expect(amount(session)).toMatch(words)
})
