import { expect, test } from "vitest"
import { isUnfamiliar } from "./source.ts"

test.each([
  [1, 3, true],
  [1, 99, true],
  [1, 100, false],
  [2, 150, true],
  [0, 0, false],
])("%i of %i records of an unknown kind: reported is %s", (unknown, records, reported) => {
  expect(isUnfamiliar({ unknown, records })).toBe(reported)
})
