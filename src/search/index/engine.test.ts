import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  addAll,
  docOf,
  makeDocs,
  makeQueries,
  NOW,
  reference,
  refsOf,
  workAll,
} from "../../../test/fixtures/indexed.ts"
import { sqliteIndex } from "../../store/dialects/index-sqlite.ts"
import { type Engine, type EngineFilter, type EngineQuery, openEngine } from "./engine.ts"

let folder: string
let path: string
let opened: Engine[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-index-"))
  path = join(folder, "index.db")
  opened = []
})
afterEach(() => {
  for (const engine of opened) engine.close()
  rmSync(folder, { recursive: true, force: true })
})
const open = () => {
  const engine = openEngine(sqliteIndex({ path }))
  opened.push(engine)
  return engine
}
const words = (...all: string[]): EngineQuery => ({ words: all.map((word) => ({ word, weight: 1 })), limit: 10 })
const found = (engine: Engine, query: EngineQuery) => refsOf(engine.search(query))

describe("what is found", () => {
  let engine: Engine
  beforeEach(() => {
    engine = open()
  })

  /** The same before and after it is written, and when it is opened again. */
  async function everywhere(check: (engine: Engine) => void | Promise<void>): Promise<void> {
    await check(engine)
    workAll(engine)
    expect(engine.facts().memtable).toBe(0)
    await check(engine)
    await check(open())
  }

  test("is there at once", async () => {
    expect(found(engine, words("queue"))).toEqual([])
    engine.add([docOf(2, "the retry queue"), docOf(4, "a list")], 7)
    await everywhere((on) => {
      expect(on.search(words("queue"))).toEqual([
        {
          ref: 2,
          sessionId: "session-1",
          kind: "prompt",
          atMs: docOf(2, "").atMs,
          exchange: 2,
          length: 3,
          isHidden: false,
          score: expect.any(Number),
        },
      ])
      expect([on.has(2), on.has(3), on.has(4)]).toEqual([true, false, true])
      expect(on.facts()).toMatchObject({ documents: 2, position: 7 })
    })
    expect(engine.facts().durablePosition).toBe(7)
  })

  test("of equal ones, the newer first, then the one with the larger ref", async () => {
    const at = [NOW + 1, NOW + 2, NOW + 2, NOW]
    engine.add(
      at.map((atMs, index) => docOf(index, "same words here", { atMs })),
      1,
    )
    await everywhere((on) => {
      expect(found(on, words("same", "words"))).toEqual([2, 1, 0, 3])
      expect(found(on, { ...words("same"), limit: 2 })).toEqual([2, 1])
    })
  })

  test("an edited document is found by its new words only", async () => {
    engine.add([docOf(1, "old common"), docOf(2, "other common")], 1)
    workAll(engine)
    engine.add([docOf(1, "newer common")], 2)
    await everywhere((on) => {
      expect(found(on, words("old"))).toEqual([])
      expect(found(on, words("newer"))).toEqual([1])
      expect(found(on, words("common")).sort()).toEqual([1, 2])
      expect(on.facts().documents).toBe(2)
    })
    engine.add([docOf(1, "third common")], 3)
    engine.add([docOf(1, "fourth common")], 4)
    await everywhere((on) => {
      expect(found(on, words("newer", "third"))).toEqual([])
      expect(found(on, words("fourth"))).toEqual([1])
    })
  })

  test("what is removed is gone, at once and after a crash", async () => {
    engine.add([docOf(1, "one common"), docOf(2, "two common")], 1)
    workAll(engine)
    engine.remove([1, 99])
    for (const on of [engine, open()]) {
      expect(found(on, words("one", "common"))).toEqual([2])
      expect([on.has(1), on.facts().documents]).toEqual([false, 1])
      expect([1, 2].filter(on.fitting({}))).toEqual([2])
    }
    engine.add([docOf(3, "three common")], 2)
    engine.remove([3])
    await everywhere((on) => expect(found(on, words("common"))).toEqual([2]))
  })

  test("what is hidden is found only when it is asked for", async () => {
    engine.add([docOf(1, "one common"), docOf(2, "two common")], 1)
    workAll(engine)
    engine.add([docOf(3, "three common")], 2)
    engine.hide([1, 3])
    await everywhere((on) => {
      expect(found(on, words("common"))).toEqual([2])
      expect(found(on, { ...words("common"), filter: { hidden: true } })).toHaveLength(3)
      expect([1, 2, 3, 4].filter(on.fitting({}))).toEqual([2])
      expect([1, 2, 3, 4].filter(on.fitting({ hidden: true }))).toEqual([1, 2, 3])
    })
    engine.add([docOf(1, "one common again")], 3)
    expect(found(engine, words("again"))).toEqual([1])
  })

  test("filters leave out the rest", async () => {
    const docs = makeDocs(3000)
    addAll(engine, docs)
    await everywhere((on) => {
      for (const filter of [
        { sessionIds: new Set(["session-7"]) },
        { sessionIds: new Set(["session-7", "session-30", "nobody's"]) },
        { sessionIds: new Set(["nobody's"]) },
        { kinds: new Set(["thought", "reply"] as const) },
        { sinceMs: docs[1000]!.atMs, untilMs: docs[1100]!.atMs },
        { sinceMs: docs[1000]!.atMs, kinds: new Set(["prompt"] as const), sessionIds: new Set(["session-26"]) },
      ]) {
        const query = { ...words("w0", "w1", "wa", "w2b"), filter, limit: 5000 }
        const wanted = reference(docs, query).map(({ ref }) => ref)
        const all = found(on, query)
        expect(all.toSorted()).toEqual(wanted.sort())
        expect(found(on, { ...query, limit: 20 })).toEqual(all.slice(0, 20))
        const fits = on.fitting(filter)
        expect(all.every(fits)).toBe(true)
        const { sessionIds, kinds, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY } = filter as EngineFilter
        const fit = docs.filter(
          ({ sessionId, kind, atMs }) =>
            (sessionIds?.has(sessionId) ?? true) && (kinds?.has(kind) ?? true) && atMs >= sinceMs && atMs < untilMs,
        )
        // At first each is looked up; who asks on has it found out for all at once.
        for (let round = 0; round < 3; round++) expect(docs.filter(({ ref }) => fits(ref))).toEqual(fit)
        expect([fits(2 ** 32 - 2), fits(-1)]).toEqual([false, false])
      }
    })
  })

  test("all of some words must occur, and none of others", async () => {
    // So many that one segment has more with all of the words than are looked at one by one.
    const docs = makeDocs(5000)
    addAll(engine, docs)
    await everywhere((on) => {
      for (const more of [
        { all: [["w1", "w2"], ["wa"]] },
        { all: [["w1"], ["w2"]] },
        { all: [["w1", "not-there"]] },
        { none: ["w0", "w1"] },
        { all: [["w3"]], none: ["w0", "not-there"] },
      ]) {
        const query = { ...words("w5", "w6"), ...more, limit: 5000 }
        const wanted = reference(docs, query).map(({ ref }) => ref)
        const all = found(on, query)
        expect(all.toSorted()).toEqual(wanted.sort())
        expect(found(on, { ...query, limit: 20 })).toEqual(all.slice(0, 20))
      }
      expect(found(on, { words: [], all: [["w1", "w2"]], limit: 5000 })).not.toEqual([])
      expect(found(on, { words: [], none: ["w1"], limit: 5000 })).toEqual([])
    })
  })

  test("a prefix stands for the same words however the documents were merged", async () => {
    const docs = makeDocs(3000)
    const counts = new Map<string, number>()
    for (const { words: own } of docs) for (const word of own.keys()) counts.set(word, (counts.get(word) ?? 0) + 1)
    const expected = (prefix: string) =>
      [...counts.keys()]
        .filter((word) => word.startsWith(prefix))
        .sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1))
        .slice(0, 32)
    const prefixes = ["w", "w1", "w2a", "wz", "w9"]
    const check = async (on: Engine) => {
      // At first in the dictionary; once the common words are learnt, among those.
      for (const prefix of [...prefixes, ...prefixes]) {
        if (prefix === "w") await sleep(20)
        const chosen = on.expand({ words: [{ word: prefix, weight: 1, isPrefix: true }] })
        expect(chosen.map(({ word }) => word)).toEqual(expected(prefix))
      }
    }
    // Some are written in one piece, some in many, some not at all; some are replaced, and some come and go.
    engine.add(docs.slice(0, 1200), 1)
    workAll(engine)
    engine.expand({ words: [{ word: "w", weight: 1, isPrefix: true }] })
    await sleep(20)
    for (let at = 1200; at < 2400; at += 100) {
      engine.add([...docs.slice(at, at + 100), docs[at - 200]!, docOf(9_000_001, "w w1 w2a w9")], at)
      if (at % 300 === 0) workAll(engine)
    }
    engine.add(docs.slice(2400), 2)
    engine.remove([9_000_001])
    await engine.purge()
    await check(engine)
    await everywhere(check)
    const [gone, ...left] = docs
    engine.remove([gone!.ref])
    for (const word of gone!.words.keys()) counts.set(word, counts.get(word)! - 1)
    await engine.purge()
    expect(left.length).toBe(engine.facts().documents)
    await check(engine)
    await check(open())
  })

  test("a word that becomes common while others are known is among those a prefix stands for", async () => {
    const expand = (prefix: string) => {
      const chosen = engine.expand({ words: [{ word: prefix, weight: 1, isPrefix: true }] })
      return chosen.map(({ word }) => word)
    }
    const common = Array.from({ length: 40 }, (_, at) => `pre${at + 10}`)
    const many = (count: number, text: string, from: number) =>
      Array.from({ length: count }, (_, at) => docOf(from + at, text))
    engine.add(many(150, `${common.join(" ")} rest`, 1), 1)
    workAll(engine)
    expand("pre")
    await sleep(20)
    expect(expand("pre")).toEqual(common.slice(0, 32))
    engine.add(many(100, "prefect", 1_000), 2)
    workAll(engine)
    expect(expand("pre")).toEqual(common.slice(0, 32))
    engine.add(many(60, "prefect", 2_000), 3)
    await everywhere(() => expect(expand("pre")).toEqual(["prefect", ...common.slice(0, 31)]))
    engine.add(many(60, "prefect precious", 3_000), 4)
    await everywhere(() => expect(expand("pre")).toEqual(["prefect", ...common.slice(0, 31)]))
  })

  test("a prefix stands for the most frequent words that begin so", async () => {
    engine.add([docOf(1, "configure"), docOf(2, "config"), docOf(3, "conf"), docOf(4, "deconf")], 1)
    const prefix = (word: string) => ({ words: [{ word, weight: 1, isPrefix: true }], limit: 100 })
    await everywhere((on) => {
      expect(found(on, prefix("conf")).sort()).toEqual([1, 2, 3])
      expect(found(on, prefix("configu"))).toEqual([1])
      expect(found(on, prefix("x"))).toEqual([])
      expect(found(on, prefix(""))).toEqual([])
    })
    engine.add([docOf(5, "confident")], 2)
    expect(found(engine, prefix("conf")).sort()).toEqual([1, 2, 3, 5])
    const rare = Array.from({ length: 40 }, (_, at) => docOf(100 + at, `pre${at}`))
    const frequent = [docOf(200, "prefect"), docOf(201, "prefect"), docOf(202, "prefect")]
    engine.add([...rare, ...frequent], 3)
    await everywhere((on) => {
      const refs = found(on, prefix("pre"))
      expect(refs).toHaveLength(31 + 3)
      expect(refs).toEqual(expect.arrayContaining([200, 201, 202]))
    })
  })

  test("weights of words in documents come back as they were given, as well as a byte can tell", async () => {
    const doc = docOf(1, "a b", {
      words: new Map([
        ["a", 1],
        ["b", 2.5],
        ["c", 0.3],
      ]),
      length: 120,
    })
    engine.add([doc, docOf(2, "b")], 1)
    await everywhere((on) => {
      const [a, b, c, none] = on.weights([1, 2, 3], ["a", "b", "c", "none"])
      expect([...a!, ...b!, ...c!, ...none!].map((weight) => Math.round(weight * 10) / 10)).toEqual([
        1, 0, 0, 2.5, 1, 0, 0.3, 0, 0, 0, 0, 0,
      ])
    })
  })

  test("the documents of an exchange are known", async () => {
    const docs = makeDocs(600)
    engine.add(docs.slice(0, 302), 1)
    workAll(engine)
    engine.add(docs.slice(302), 2)
    const refs = docs.filter(({ exchange }) => exchange === 300).map(({ ref }) => ref)
    expect(refs).toHaveLength(4)
    engine.remove([refs[1]!])
    await everywhere((on) => {
      expect(on.docsOfExchange("session-7", 300)).toEqual([refs[0], refs[2], refs[3]])
      expect(on.docsOfExchange("session-8", 300)).toEqual([])
      expect(on.docsOfExchange("nobody's", 300)).toEqual([])
    })
  })

  test("the documents of an exchange are found also where another one came in between", async () => {
    const exchanges = [10, 30, 10, 20, 30, 10]
    engine.add(
      exchanges.map((exchange, at) => docOf(at + 1, `word${at}`, { exchange })),
      1,
    )
    await everywhere((on) => {
      expect(on.docsOfExchange("session-1", 10)).toEqual([1, 3, 6])
      expect(on.docsOfExchange("session-1", 20)).toEqual([4])
      expect(on.docsOfExchange("session-1", 15)).toEqual([])
    })
  })

  test("words that no table could take are left out, and the rest of their document is found", async () => {
    engine.add([docOf(1, `fine nu\0l half\ud800 ${"long".repeat(1000)} ünï 漢字`)], 1)
    await everywhere((on) => {
      expect(found(on, words("fine"))).toEqual([1])
      expect(found(on, words("漢字"))).toEqual([1])
      expect(found(on, words("nu\0l", "half\ud800", "long".repeat(1000)))).toEqual([])
      expect(found(on, { words: [{ word: "漢", weight: 1, isPrefix: true }], limit: 1 })).toEqual([1])
    })
  })

  test("the file is its owner's alone", async () => {
    engine.add([docOf(1, "secret")], 1)
    workAll(engine)
    for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777).toBe(0o600)
  })
})

describe("the best by BM25", () => {
  const docs = makeDocs(4000)
  const queries = makeQueries(200, docs).filter((query) => query.words.every(({ isPrefix }) => !isPrefix))

  const bests = queries.map((query) => reference(docs, query))

  function overlap(engine: Engine): number {
    let hits = 0
    let wanted = 0
    for (const [at, query] of queries.entries()) {
      const best = bests[at]!
      const refs = new Set(found(engine, query))
      expect(refs.size).toBe(best.length)
      wanted += best.length
      hits += best.filter(({ ref }) => refs.has(ref)).length
    }
    return hits / wanted
  }

  test("are found, whether they are in memory, in many segments or in few", async () => {
    const engine = open()
    addAll(engine, docs, 500, false)
    expect(overlap(engine)).toBeGreaterThan(0.98)
    workAll(engine)
    expect(engine.facts()).toMatchObject({ documents: 4000, memtable: 0, position: docs.at(-1)!.ref })
    expect(overlap(engine)).toBeGreaterThan(0.98)
  })

  test("score what BM25 says, give or take the byte that an impact is", async () => {
    const engine = open()
    addAll(engine, docs)
    for (const query of queries.slice(0, 40)) {
      const scores = new Map(reference(docs, { ...query, limit: 6000 }).map(({ ref, score }) => [ref, score]))
      for (const { ref, score } of engine.search(query)) {
        const exact = scores.get(ref)!
        expect(Math.abs(score - exact)).toBeLessThan(0.05 * exact + 0.02)
      }
    }
  })

  test("keep their order and scores when segments are merged and opened again", async () => {
    const engine = open()
    for (const some of chunks(docs, 400)) {
      engine.add(some, some.at(-1)!.ref)
      while (engine.facts().memtable > 0) engine.work({ idle: true })
    }
    expect(engine.facts().segments).toBe(10)
    const before = queries.map((query) => engine.search(query))
    workAll(engine)
    expect(engine.facts().segments).toBe(3)
    expect(queries.map((query) => engine.search(query))).toEqual(before)
    const again = open()
    expect(queries.map((query) => again.search(query))).toEqual(before)
  })
})

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
}

test("a closed engine writes no more into tables that another one may have by now", async () => {
  const tables = sqliteIndex({ path })
  const old = openEngine(tables)
  addAll(old, makeDocs(600))
  old.close()
  tables.clear()
  expect(() => old.work()).toThrow(expect.objectContaining({ name: "IndexUnusable", reason: "gone" }))
  expect([tables.segmentsWithPostings(), tables.meta()]).toEqual([[], {}])
  tables.close()
})
