import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { IndexTables } from "../../src/domain/index-tables.ts"
import { openEngine } from "../../src/search/index/engine.ts"
import { addAll, docOf, makeDocs, makeQueries, refsOf, workAll } from "../fixtures/indexed.ts"

export interface OpenedTables {
  tables: IndexTables
  /** The same tables once more, as another process would open them. */
  again(): IndexTables
  dispose(): void
}

const bytes = (...all: number[]) => Uint8Array.from(all)
const plain = (all: Uint8Array | undefined) => all && [...all]

/** What the engine expects of the tables that it keeps its postings in, and that it gives the same answers on all of them. */
export function indexTablesContract(name: string, open: () => OpenedTables): void {
  describe(name, () => {
    let opened: OpenedTables | undefined
    let tables: IndexTables
    beforeEach(async () => {
      opened = open()
      tables = opened.tables
      tables.open()
    })
    afterEach(async () => {
      opened?.dispose()
      opened = undefined
    })

    test("empty tables have nothing", async () => {
      expect(tables.meta()).toEqual({})
      expect([tables.segments(), tables.tombstones(), tables.sessions()]).toEqual([[], [], []])
      expect(tables.segmentsWithPostings()).toEqual([])
      expect(tables.termsOf(["a"])).toEqual(new Map())
      expect(tables.postings([{ segment: 1, row: 1 }])).toEqual([undefined])
      expect(tables.postingsAfter(1, 0, 9)).toEqual([])
    })

    test("what is written is read, also by another process", async () => {
      tables.write({
        meta: { position: "1" },
        sessions: [{ number: 0, id: "a session" }],
        segments: [{ segment: 3, size: 2, docs: bytes(0, 255, 7) }],
        tombstones: [{ segment: 3, removed: bytes(1), hidden: bytes(2) }],
      })
      tables.write({ meta: { position: "2" }, tombstones: [{ segment: 3, removed: bytes(3), hidden: bytes(0) }] })
      for (const on of [tables, opened!.again()]) {
        expect(on.meta()).toEqual({ position: "2" })
        expect(on.sessions()).toEqual([{ number: 0, id: "a session" }])
        const [segment] = on.segments()
        expect({ ...segment, docs: plain(segment?.docs) }).toEqual({ segment: 3, size: 2, docs: [0, 255, 7] })
        const [tombstones] = on.tombstones()
        expect([plain(tombstones?.removed), plain(tombstones?.hidden)]).toEqual([[3], [0]])
      }
      tables.write({ retired: [3], droppedSessions: [0] })
      expect([tables.segments(), tables.tombstones(), tables.sessions()]).toEqual([[], [], []])
    })

    test("lists are found by segment and row, however many, and read in the order of rows", async () => {
      const keys = [
        { segment: 2, row: 5 },
        { segment: 1, row: 7 },
        { segment: 1, row: 2 ** 31 - 1 },
        { segment: 1, row: 1 },
      ]
      tables.write({ postings: keys.map((key) => ({ ...key, bytes: bytes(key.segment, 0, key.row & 255) })) })
      const read = tables.postings([...keys, { segment: 2, row: 1 }, { segment: 1, row: 5 }, keys[0]!])
      const each = [[2, 0, 5], [1, 0, 7], [1, 0, 255], [1, 0, 1], undefined, undefined]
      expect(read.map(plain)).toEqual([...each, [2, 0, 5]])
      for (const length of [0, 1, 4, 5, 64, 65, 150]) {
        const many = Array.from({ length }, (_, at) => keys[at % 4]!)
        expect(tables.postings(many).map(plain)).toEqual(many.map((_, at) => each[at % 4]))
      }
      expect(tables.postingsAfter(1, 0, 2).map(({ row }) => row)).toEqual([1, 7])
      expect(tables.postingsAfter(1, 7, 2).map((next) => [next.row, plain(next.bytes)])).toEqual([
        [2 ** 31 - 1, [1, 0, 255]],
      ])
      const rowsAfter = (segment: number, row: number, limit: number) =>
        tables.postingsAfter(segment, row, limit).map((next) => next.row)
      expect(rowsAfter(1, 1, 9)).toEqual([7, 2 ** 31 - 1])
      expect(tables.segmentsWithPostings()).toEqual([1, 2])
      expect(tables.dropPostings(1, 2)).toBe(true)
      expect(rowsAfter(1, 0, 9)).toEqual([2 ** 31 - 1])
      expect(rowsAfter(2, 0, 9)).toEqual([5])
      expect([tables.dropPostings(1, 2), tables.dropPostings(1, 2)]).toEqual([true, false])
    })

    test("words are ordered by their bytes, also those of a prefix", async () => {
      const words = ["b", "B", "ab", "ä", "a", "aé", "\u{1f600}", "a漢"]
      tables.write({ terms: words.map((word, at) => ({ word, term: at + 1 })) })
      expect(tables.termsAfter("", 99).map(({ word }) => word)).toEqual([
        "B",
        "a",
        "ab",
        "aé",
        "a漢",
        "b",
        "ä",
        "\u{1f600}",
      ])
      expect(tables.termsAfter("ab", 2).map(({ word }) => word)).toEqual(["aé", "a漢"])
      expect(tables.termsWithPrefix("a")).toEqual([5, 3, 6, 8])
      expect(tables.wordsWithPrefix("a", [8, 2])).toEqual([{ word: "a漢", term: 8 }])
      expect(tables.termsOf(["ä", "B", "none"])).toEqual(
        new Map([
          ["ä", 4],
          ["B", 2],
        ]),
      )
      tables.write({ droppedTerms: [{ word: "a漢", term: 8 }] })
      expect(tables.termsOf(["a漢", "a"])).toEqual(new Map([["a", 5]]))
      tables.write({ terms: [{ word: "a漢", term: 8 }] })
      expect(tables.termsWithPrefix("a漢")).toEqual([8])
    })

    test("a change that fails leaves nothing behind, and says that the index is unusable", async () => {
      tables.write({ terms: [{ word: "one", term: 1 }] })
      const twice = () => tables.write({ meta: { position: "5" }, terms: [{ word: "one", term: 2 }] })
      expect(twice).toThrow(expect.objectContaining({ name: "IndexUnusable", reason: "damaged" }))
      expect(tables.meta()).toEqual({})
      tables.write({ meta: { position: "6" } })
      expect(tables.meta()).toEqual({ position: "6" })
    })

    test("cleared tables are empty and work", async () => {
      tables.write({ meta: { position: "5" }, terms: [{ word: "one", term: 1 }] })
      tables.clear()
      expect([tables.meta(), tables.termsAfter("", 9)]).toEqual([{}, []])
      tables.write({ meta: { position: "6" } })
      tables.check()
      expect(tables.sizeBytes()).toBeGreaterThan(0)
    })

    test("the engine finds the same before and after writing, merging and opening again", async () => {
      const docs = makeDocs(1500)
      const queries = makeQueries(60, docs).filter((query) => query.words.every(({ isPrefix }) => !isPrefix))
      const engine = openEngine(tables)
      engine.add(docs, 1500)
      const before = queries.map((query) => engine.search(query))
      workAll(engine)
      expect(queries.map((query) => engine.search(query))).toEqual(before)
      const again = openEngine(opened!.again())
      expect(queries.map((query) => again.search(query))).toEqual(before)
      expect(again.facts()).toMatchObject({ documents: 1500, position: 1500, segments: 1 })
    })

    test("after a purge, no word is in the dictionary that only removed documents had", async () => {
      const engine = openEngine(tables)
      engine.add([docOf(1, "shared onlyhere"), docOf(2, "shared kept", { sessionId: "session-2" })], 1)
      workAll(engine)
      engine.add([docOf(3, "shared alsogone"), docOf(4, "fresh")], 2)
      engine.remove([1, 3])
      await engine.purge()
      const all = tables.termsAfter("", 99)
      expect(all.map(({ word }) => word)).toEqual(["fresh", "kept", "shared"])
      expect(
        tables
          .sessions()
          .map(({ id }) => id)
          .sort(),
      ).toEqual(["session-1", "session-2"])
      engine.remove([4])
      await engine.purge()
      expect(tables.sessions().map(({ id }) => id)).toEqual(["session-2"])
      const query = { words: [{ word: "shared", weight: 1 }], limit: 9 }
      expect(refsOf(engine.search(query))).toEqual([2])
      engine.add([docOf(5, "shared again onlyhere")], 3)
      workAll(engine)
      expect(refsOf(openEngine(opened!.again()).search(query))).toEqual([2, 5])
    })

    test("segments are few, however many small writes there were", async () => {
      const engine = openEngine(tables)
      for (const doc of makeDocs(60)) {
        addAll(engine, [doc])
        workAll(engine)
      }
      expect(engine.facts().segments).toBeLessThanOrEqual(8)
      expect(tables.segmentsWithPostings()).toHaveLength(engine.facts().segments)
    })
  })
}
