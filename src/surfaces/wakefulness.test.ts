import { expect, test } from "vitest"
import { makeWakefulness } from "./wakefulness.ts"

test("the event loop turns until the answer is there", () => {
  const { wakefulness, turns } = start()
  wakefulness.expect()
  expect(turns(5)).toBe(5)
  wakefulness.came()
  expect(turns(5)).toBe(1)
  wakefulness.expect()
  expect(turns(5)).toBe(5)
})

test("requests that follow each other are waited for as one", () => {
  const { wakefulness, turns } = start()
  for (let i = 0; i < 3; i++) wakefulness.expect()
  expect(turns(5)).toBe(5)
  expect(turns(2000)).toBeLessThan(300)
})

test("an answer that does not come is waited for a moment only, and the next ones not at all", () => {
  const { wakefulness, turns } = start()
  wakefulness.expect()
  expect(turns(2000)).toBe(200)
  for (let i = 0; i < 15; i++) wakefulness.expect()
  expect(turns(5)).toBe(0)
  wakefulness.expect()
  expect(turns(5)).toBe(5)
})

test("on a single core nobody stays awake", () => {
  const { wakefulness, turns } = start({ cores: 1 })
  for (let i = 0; i < 100; i++) wakefulness.expect()
  expect(turns(5)).toBe(0)
})

/** Each turn of the loop takes ten microseconds. */
function start({ cores = 2 } = {}) {
  let waiting: (() => void)[] = []
  let nowUs = 0
  const wakefulness = makeWakefulness({
    nowMs: () => nowUs / 1000,
    turn: (work) => void waiting.push(work),
    cores,
  })
  const turns = (most: number) => {
    let taken = 0
    for (; taken < most && waiting.length > 0; taken++) {
      const [work] = waiting
      waiting = waiting.slice(1)
      nowUs += 10
      work!()
    }
    return taken
  }
  return { wakefulness, turns }
}
