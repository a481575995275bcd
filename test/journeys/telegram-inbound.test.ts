import { expect, test } from "vitest"
import { torturePhone } from "../fixtures/phone-torture.ts"

test("texts to six topics are submitted once each and in order by a daemon that is killed at six bad moments", async () => {
  const {
    calmMs,
    seconds: _,
    ...result
  } = await torturePhone({
    texts: 36,
    topics: 6,
    kills: 6,
    batch: 12,
    maxMs: 200_000,
  })
  expect(result).toEqual({
    submitted: 36,
    distinct: 36,
    missing: 0,
    twice: 0,
    outOfOrder: 0,
    kills: {
      "taken, not kept": 1,
      kept: 1,
      "before-paste": 1,
      "after-paste": 1,
      "before-enter": 1,
      "after-enter": 1,
    },
  })
  expect(calmMs.toSorted((a, b) => a - b)[Math.ceil(calmMs.length * 0.95) - 1]).toBeLessThan(3_000)
}, 300_000)
