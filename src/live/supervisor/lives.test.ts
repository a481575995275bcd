import { expect, test } from "vitest"
import { afterDeath, newLives, startedNow } from "./lives.ts"

test("the backoff grows from one second to sixty, and then it gives up", () => {
  const life = newLives()
  const pauses: number[] = []
  let nowMs = 1_000_000
  while (life.givenUp === undefined) {
    startedNow(life, nowMs)
    afterDeath(life, nowMs + 500)
    pauses.push((life.nextAtMs - nowMs - 500) / 1_000)
    nowMs = life.nextAtMs
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
  expect(life.givenUp).toContain("it ended 10 times within 10 seconds")
})

test("a long life resets the count", () => {
  const life = newLives()
  startedNow(life, 0)
  for (let n = 0; n < 5; n++) afterDeath(life, 100)
  startedNow(life, 1_000)
  afterDeath(life, 60_000)
  expect([life.quickDeaths, life.nextAtMs]).toEqual([1, 61_000])
})

test("a session that could not be resumed is not resumed again", () => {
  const life = newLives()
  startedNow(life, 0)
  life.resume = "s"
  afterDeath(life, 500)
  expect(life.failedResume).toBe("s")
  startedNow(life, 1_000)
  life.resume = "t"
  afterDeath(life, 60_000)
  expect(life.failedResume, "it had lived").toBe("s")
})
