import { expect, test } from "vitest"
import { BLOCK, LARGEST, makeScan, plainScan } from "./scan.ts"
import { startSimd } from "./simd.ts"

test.each([1, 48, 96, 250])("codes of %d bytes score sixteen at a time as they do one by one", (codeBytes) => {
  expect(startSimd()).toBeDefined()
  const [fast, plain] = [makeScan(codeBytes), plainScan(codeBytes)]
  const blocks = 40
  let state = codeBytes
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const tables = Int8Array.from(plain.tables, () => random(2 * LARGEST + 1) - LARGEST)
  const codes = Uint8Array.from({ length: blocks * BLOCK * codeBytes }, () => random(256))
  for (const scan of [fast, plain]) {
    scan.grow(1)
    scan.codes.set(codes.subarray(0, BLOCK * codeBytes))
    scan.grow(blocks - 1)
    // What was there before it grew is still there.
    expect(scan.codes.subarray(0, BLOCK * codeBytes)).toEqual(codes.subarray(0, BLOCK * codeBytes))
    scan.codes.set(codes)
    scan.tables.set(tables)
  }
  for (const [from, count] of [
    [0, blocks],
    [7, 3],
    [blocks - 1, 1],
  ] as const) {
    const expected = plain.scores(from, count).subarray(0, count * BLOCK)
    expect(new Set(expected).size).toBeGreaterThan(10)
    expect(fast.scores(from, count).subarray(0, count * BLOCK)).toEqual(expected)
  }
})
