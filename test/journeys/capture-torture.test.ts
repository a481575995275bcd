import { beforeAll, describe, expect, test } from "vitest"
import { type TortureResult, torture } from "../../bench/torture.ts"

// bench/torture.ts does it hundreds of times.
const KILLS = 12

describe("agents write, rewrite and rewind while the capturing daemon is killed again and again", () => {
  let result: TortureResult
  beforeAll(async () => {
    result = await torture({ kills: KILLS, bytes: 3_000_000, seed: Date.now() % 1_000_000 })
  }, 240_000)

  test("in the end all is there once, as an undisturbed daemon has it", () => {
    const { rows, lost, torn, duplicates } = result
    expect({ lost, torn, duplicates }).toEqual({ lost: [], torn: [], duplicates: [] })
    expect(rows).toBeGreaterThan(500)
  })

  test("all other turns were rewound, and are marked so", () => {
    expect(result.strays).toEqual([])
  })

  test("sessions count their turns right, and the database is whole", () => {
    expect(result.miscounted).toEqual([])
    expect(result.integrity).toEqual(["ok"])
  })

  test("no daemon gave up, and some turns were stored between the kills", () => {
    expect(result.gaveUp).toEqual([])
    expect(result.rowsUnderFire).toBeGreaterThan(0)
  })
})
