import { expect, test } from "vitest"
import { makeBell } from "./bell.ts"

const LONG_MS = 60_000

test("a ring ends a wait, one between two waits is not lost, and one in a pause counts for the next wait", async () => {
  const bell = makeBell()
  expect(await bell.wait(5)).toBe(false)
  setTimeout(() => bell.ring(), 5)
  expect(await bell.wait(LONG_MS)).toBe(true)
  bell.ring()
  bell.ring()
  expect(await bell.wait(LONG_MS)).toBe(true)
  expect(await bell.wait(5), "both were one").toBe(false)
  const beganMs = performance.now()
  setTimeout(() => bell.ring(), 5)
  await bell.pause(40)
  expect(performance.now() - beganMs).toBeGreaterThan(30)
  expect(await bell.wait(LONG_MS)).toBe(true)
})

test("it rings when the store does, until it is closed, and the signal ends what waits", async () => {
  const heard = new Set<() => void>()
  const store = {
    onWake(listener: () => void) {
      heard.add(listener)
      return () => void heard.delete(listener)
    },
  }
  const over = new AbortController()
  const bell = makeBell({ store, signal: over.signal })
  setTimeout(() => heard.forEach((listener) => void listener()), 5)
  expect(await bell.wait(LONG_MS)).toBe(true)
  setTimeout(() => over.abort(), 5)
  await Promise.all([bell.wait(LONG_MS), bell.pause(LONG_MS)])
  expect(await bell.wait(LONG_MS), "nor does anything wait after it").toBe(false)
  bell.close()
  expect(heard.size).toBe(0)
})
