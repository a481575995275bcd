import { expect, test } from "vitest"
import { fuse } from "./fuse.ts"

const hits = (...pairs: [exchange: number, score: number][]) => pairs.map(([exchange, score]) => ({ exchange, score }))
const order = (fused: { exchange: number }[]) => fused.map(({ exchange }) => exchange)

test("scores by words are made comparable by the highest, and a share of the cosine is added", () => {
  const fused = fuse(hits([1, 20], [2, 10]), hits([1, 0.5], [2, 0.9]))
  expect(fused.map(({ exchange, score, lexical }) => [exchange, Number(score.toFixed(4)), lexical])).toEqual([
    [1, 1.15, 1],
    [2, 0.77, 0.5],
  ])
})

test("a weak vector arm does not displace the lexical first", () => {
  // Everything is about as near as everything else, and its first is the lexical last.
  const weak = hits([9, 0.74], [4, 0.73], [3, 0.72], [2, 0.71], [1, 0.7])
  expect(order(fuse(hits([1, 12], [2, 11], [3, 9], [4, 8]), weak))).toEqual([1, 2, 3, 4, 9])
})

test("what only the vectors find comes in with its vector's part, below what has all the words", () => {
  const fused = fuse(hits([1, 5], [2, 0.5]), hits([7, 0.9], [1, 0.4], [2, 0.2]))
  expect(order(fused)).toEqual([1, 7, 2])
  expect(fused[1]).toMatchObject({ score: 0.3 * 0.9, lexical: 0 })
})

test("of two alike by words, the one that is nearer in meaning comes first", () => {
  expect(order(fuse(hits([1, 10], [2, 10]), hits([2, 0.8], [1, 0.3])))).toEqual([2, 1])
})

test("a lexical first without a vector yet is not displaced by a second that has one", () => {
  expect(order(fuse(hits([1, 10], [2, 9.5], [3, 2]), hits([2, 0.8], [3, 0.7])))).toEqual([1, 2, 3])
})

test("cosines beyond their bounds and below zero count as the bounds", () => {
  const fused = fuse(hits([1, 1], [2, 1]), hits([1, 1.000001], [2, -0.9]))
  expect(fused.map(({ score }) => score)).toEqual([1.3, 1])
})

test("one list alone stays in its order, and nothing is nothing", () => {
  expect(order(fuse(hits([3, 2], [5, 1]), []))).toEqual([3, 5])
  expect(order(fuse([], hits([3, 0.9], [5, 0.8])))).toEqual([3, 5])
  expect(order(fuse(hits([3, 0], [5, 0]), []))).toEqual([5, 3])
  expect(fuse([], [])).toEqual([])
})
