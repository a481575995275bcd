import { expect, test } from "vitest"
import { progressLine } from "./sources.ts"

const of = (bytesDone: number, bytesLeft: number, sourcesDone: number, sourcesLeft: number) =>
  progressLine({
    ...{ bytesDone, bytesLeft, sourcesDone, sourcesLeft, turns: 0, importing: true, platforms: ["codex"] },
    startedAt: new Date(Date.now() - 10_000).toISOString(),
  })

test("a large import is told by its bytes, with how long it will take", () => {
  expect(of(300e6, 300e6, 10, 90)).toMatch(
    /^\[############------------\] {2}50 % {2}300 of 600 MB {2}30 MB\/s {2}\d+ s left {2}10 of 100 files {2}codex$/,
  )
})

test("a small one is told by its files: it was always full, and said 0 of 0 MB", () => {
  expect(of(9_000, 1_000, 10, 30)).toBe("[######------------------]  25 %  10 of 40 files  codex")
  expect(of(0, 0, 0, 0)).toMatch(/100 %/)
})
