import { expect, test } from "vitest"
import { pause } from "./clock.ts"

test("a pause ends when its time is over, and at once with the signal, without throwing", async () => {
  const over = new AbortController()
  await pause(5, over.signal)
  const long = pause(600_000, over.signal)
  over.abort()
  await long
  await pause(600_000, over.signal)
  expect(over.signal.aborted).toBe(true)
})
