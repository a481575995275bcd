import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { NewVector, Space, VectorTables } from "../../src/domain/vector-tables.ts"

export interface OpenedTables {
  tables: VectorTables
  dispose(): void
}

const ONE: Space = { id: "one:4", dimension: 4 }
const OTHER: Space = { id: "other:4", dimension: 4 }
const NOW = 1_700_000_000_000

export const row = (exchange: number, values: number[] = [127, exchange % 100, -5, 0]): NewVector => ({
  exchange,
  sessionId: `s${exchange % 3}`,
  values: Int8Array.from(values),
  scale: 0.5,
})

/** What the tables of vectors must do, whatever database they are in. Each test has empty ones. */
export function vectorTablesContract(name: string, open: () => OpenedTables): void {
  describe(name, () => {
    let opened: OpenedTables
    beforeEach(() => {
      opened = open()
    })
    afterEach(() => opened.dispose())
    const exchanges = (rows: { exchange: number }[]) => rows.map(({ exchange }) => exchange).sort((a, b) => a - b)

    test("what was put comes back by its exchange, also a number beyond 32 bits", () => {
      const space = opened.tables.space(ONE)
      const large = 2 ** 40 + 1
      space.put([row(1), row(large), row(7, [0, 0, 0, 0])], NOW)
      const rows = space.byExchange([large, 1, 5]).sort((a, b) => a.exchange - b.exchange)
      expect(exchanges(rows)).toEqual([1, large])
      expect([...rows[0]!.values]).toEqual([127, 1, -5, 0])
      expect(rows[0]!.scale).toBeCloseTo(0.5, 5)
      expect(space.madeAt([1, large, 5])).toEqual(
        new Map([
          [1, NOW],
          [large, NOW],
        ]),
      )
      expect(space.count()).toBe(3)
    })

    test("an exchange has one vector: the last that was put", () => {
      const space = opened.tables.space(ONE)
      space.put([row(1)], NOW)
      space.put([row(1, [-127, 0, 3, 0])], NOW + 1)
      expect([...space.byExchange([1])[0]!.values]).toEqual([-127, 0, 3, 0])
      expect([space.count(), space.madeAt([1])]).toEqual([1, new Map([[1, NOW + 1]])])
    })

    test("of each session it is known which exchanges have a vector, of any space", () => {
      opened.tables.space(ONE).put([row(1), row(4), row(5)], NOW)
      opened.tables.space(OTHER).put([row(3)], NOW)
      const found = opened.tables.bySession()
      expect(Object.fromEntries([...found].map(([id, own]) => [id, own.sort()]))).toEqual({
        s0: [3],
        s1: [1, 4],
        s2: [5],
      })
    })

    test("pages go through all in order, each once", () => {
      const space = opened.tables.space(ONE)
      space.put(
        [5, 3, 9, 1, 7].map((exchange) => row(exchange)),
        NOW,
      )
      const seen: number[] = []
      for (let after = -1, page = space.page(after, 2); page.length > 0; page = space.page(after, 2)) {
        seen.push(...page.map(({ exchange }) => exchange))
        after = page.at(-1)!.exchange
      }
      expect(seen).toEqual([1, 3, 5, 7, 9])
    })

    test("vectors of another embedder are not seen, give way to new ones, and are deleted in slices", () => {
      const [one, other] = [opened.tables.space(ONE), opened.tables.space(OTHER)]
      one.put(
        [1, 2, 3, 4].map((exchange) => row(exchange)),
        NOW,
      )
      other.put([row(1)], NOW)
      expect([one.count(), other.count()]).toEqual([3, 1])
      expect([other.byExchange([2, 3]), other.page(-1, 9), other.madeAt([2])]).toEqual([
        [],
        [expect.objectContaining({ exchange: 1 })],
        new Map(),
      ])
      expect([other.removeForeign(2), other.removeForeign(2), other.removeForeign(2)]).toEqual([2, 1, 0])
      expect([one.count(), other.count()]).toEqual([0, 1])
    })

    test("what is removed is gone, of whichever embedder, and purging keeps the rest", () => {
      const [one, other] = [opened.tables.space(ONE), opened.tables.space(OTHER)]
      one.put([row(1), row(2)], NOW)
      other.put([row(3), row(4)], NOW)
      opened.tables.remove([1, 3, 99])
      opened.tables.purge()
      expect([exchanges(one.page(-1, 9)), exchanges(other.page(-1, 9))]).toEqual([[2], [4]])
    })

    test("removing and purging are possible before there was any embedder", () => {
      opened.tables.remove([1])
      opened.tables.purge()
    })

    test("an embedder of another dimension begins with none", () => {
      const four = opened.tables.space(ONE)
      four.put([row(1)], NOW)
      const six = opened.tables.space({ id: "six:6", dimension: 6 })
      expect([six.count(), six.page(-1, 9)]).toEqual([0, []])
      six.put([row(1, [1, 2, 3, 4, 5, 127])], NOW)
      expect(six.byExchange([1])[0]!.values).toHaveLength(6)
    })

    test("nothing asked for is nothing found, and nothing put is no error", () => {
      const space = opened.tables.space(ONE)
      space.put([], NOW)
      expect([space.byExchange([]), space.madeAt([]), space.page(-1, 5)]).toEqual([[], new Map(), []])
    })
  })
}
