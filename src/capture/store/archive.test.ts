import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeTestArchive, type TestArchive } from "../../../test/fixtures/archive.ts"
import type { ArchiveRules, Capture } from "../../domain/capture.ts"
import { Failure } from "../../domain/failure.ts"
import type { NewSource } from "../../domain/source.ts"
import { type Batch, makeArchive } from "./archive.ts"

let kept: TestArchive
beforeEach(async () => {
  kept = await makeTestArchive()
})
afterEach(() => kept.close())

const source = (key: string): NewSource => ({
  platform: "claude-code",
  key,
  path: `/${key}`,
  mode: "lines",
  inode: "1:1",
  sizeBytes: 1,
  mtimeMs: 1,
  offset: 1,
  headHash: "",
  tailHash: "",
  memory: {},
  readAtMs: 1,
  lines: 1,
  skipped: {},
  unknown: 0,
  unreadable: 0,
  trouble: null,
})
const turn = (sessionId: string, nativeId: string, text = nativeId): Capture => ({
  type: "turn",
  sessionId,
  nativeId,
  kind: "prompt",
  text,
  atMs: 1,
})
const batch = (key: string, ...captures: Capture[]): Batch => ({ captures, source: source(key) })

describe("concurrent batches", () => {
  const countingArchive = (rules: Partial<ArchiveRules> = {}) => {
    let transactions = 0
    const { store } = kept
    const counting = {
      ...store,
      transaction: ((work, options) => {
        transactions++
        return store.transaction(work, options)
      }) as typeof store.transaction,
    }
    const archive = makeArchive({
      store: counting,
      clock: { nowMs: () => 1 },
      rules: { redact: (text) => text, excluded: () => false, projectOf: async () => undefined, ...rules },
    })
    return { archive, transactions: () => transactions }
  }

  test("share a commit, each with its own position", async () => {
    const { archive, transactions } = countingArchive()
    const keys = Array.from({ length: 40 }, (_, index) => `s${index}`)
    const answers = await Promise.all(keys.map((key) => archive.keep(batch(key, turn(key, "t")))))
    expect(answers).toEqual(keys.map(() => ({ turns: 1, leftOut: 0 })))
    expect(transactions()).toBe(1)
    expect(await kept.rows()).toHaveLength(40)
    expect(await kept.store.sources.looks()).toHaveLength(40)
  })

  test("are limited, so that calls do not wait long", async () => {
    const { archive, transactions } = countingArchive()
    const big = "x".repeat(600_000)
    await Promise.all([1, 2, 3, 4].map((n) => archive.keep(batch(`s${n}`, turn(`s${n}`, "t", big)))))
    expect(transactions()).toBe(4)
    const many = Array.from({ length: 300 }, (_, index) => turn("m", `t${index}`))
    await Promise.all([1, 2, 3].map((n) => archive.keep(batch(`m${n}`, ...many))))
    expect(transactions()).toBe(7)
  })

  test("do not fail together", async () => {
    const { archive } = countingArchive({
      redact: (text) => {
        if (text === "bad") throw new Failure("store_full", "no room")
        return text
      },
    })
    const answers = await Promise.allSettled([
      archive.keep(batch("a", turn("a", "1"))),
      archive.keep(batch("b", turn("b", "1"), turn("b", "2", "bad"))),
      archive.keep(batch("c", turn("c", "1"))),
    ])
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect((await kept.rows()).map(({ session }) => session)).toEqual(["a", "c"])
    expect(await kept.source("b")).toBeUndefined()
    await archive.keep(batch("b", turn("b", "1")))
    expect((await kept.rows()).map(({ session }) => session)).toEqual(["a", "b", "c"])
  })

  test("doing it twice changes nothing", async () => {
    const { archive } = countingArchive()
    await archive.keep(batch("a", turn("a", "1"), turn("a", "2")))
    const last = await kept.store.journal.last()
    expect(await archive.keep(batch("a", turn("a", "1"), turn("a", "2")))).toEqual({ turns: 0, leftOut: 0 })
    expect(await kept.store.journal.last()).toBe(last)
  })
})
