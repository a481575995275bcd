import { expect, test } from "vitest"
import { outgoingOf, progressOf } from "./progress.ts"

test("rows of an earlier version, with the names that it gave things, continue where they were", () => {
  const progress = { fold: "trail", with: [3], done: 1, isTrailFile: true, doubts: 2, isUnderWay: true }
  const payload = { kind: "trail", topicId: "t", progress }
  expect(outgoingOf({ payload })).toEqual({ kind: "progress_end", topicId: "t" })
  expect(progressOf({ payload })).toEqual({
    ...{ as: "progress", with: [3], done: 1, isUnderWay: true, isProgressFile: true },
    ...{ unconfirmed: 2, form: 0, gone: 0, isOutside: false },
  })
})
