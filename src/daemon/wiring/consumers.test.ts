import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pino } from "pino"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import type { JournalConsumer, JournalEntry } from "../../domain/journal.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { consume } from "./consumers.ts"

let folder: string
let store: Store
let logged: string[]
let stop: () => Promise<void>
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "throughline-consumers-"))
  store = await openStore(sqlite({ path: join(folder, "throughline.db") }))
  logged = []
  stop = async () => {}
})
afterEach(async () => {
  await stop()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

const log = pino({ base: null }, { write: (line) => void logged.push(line) })
const append = (...kinds: string[]) => store.journal.append(kinds.map((kind) => ({ kind, atMs: 1 })))

/** Remembers what it was handed, batch by batch. */
function recorder(act: JournalConsumer["after"] = async () => {}): JournalConsumer & { batches: string[][] } {
  const batches: string[][] = []
  return {
    name: "recorder",
    batches,
    async after(entries, tx, signal) {
      batches.push(entries.map((entry: JournalEntry) => entry.kind))
      await act(entries, tx, signal)
    },
  }
}

function run(consumer: JournalConsumer, on = store): Promise<void> {
  const stopping = new AbortController()
  const done = consume(on, consumer, log, stopping.signal)
  stop = () => {
    stopping.abort()
    return done
  }
  return done
}
const caughtUp = () =>
  vi.waitFor(async () => expect(await store.journal.position("recorder")).toBe(await store.journal.last()), {
    timeout: 5000,
    interval: 5,
  })

test("it goes on from its saved number", async () => {
  await append("a", "b")
  const first = recorder()
  void run(first)
  await caughtUp()
  await stop()
  await append("c")
  const second = recorder()
  void run(second)
  await caughtUp()
  expect([first.batches.flat(), second.batches.flat()]).toEqual([["a", "b"], ["c"]])
})

test("it is not called for kinds that it does not read, and its number passes them", async () => {
  const one = { ...recorder(), kinds: ["a", "x."] }
  void run(one)
  await append("b", "ab", "x")
  await caughtUp()
  expect(one.batches).toEqual([])
  await append("a", "b", "x.y")
  await caughtUp()
  expect(one.batches.flat()).toEqual(["a", "x.y"])
})

test("what comes while it waits is handed on at once", async () => {
  const consumer = recorder()
  void run(consumer)
  await append("a")
  await caughtUp()
  await append("b")
  const startedMs = Date.now()
  await caughtUp()
  expect(consumer.batches.flat()).toEqual(["a", "b"])
  expect(Date.now() - startedMs).toBeLessThan(20_000)
})

test("more than fit in one batch are handed on in order, each once", async () => {
  const kinds = Array.from({ length: 1001 }, (_, index) => `entry ${index}`)
  await append(...kinds)
  const consumer = recorder()
  void run(consumer)
  await caughtUp()
  expect(consumer.batches.flat()).toEqual(kinds)
  expect(consumer.batches.length).toBeGreaterThan(1)
})

test("one that fails is handed the same entries again, what it wrote is undone, and the log says so", async () => {
  await append("a", "b")
  let failures = 1
  const consumer = recorder(async (_, tx) => {
    await tx.bindings.set("written by the consumer", { rootUri: `file:///${failures}` }, 1)
    if (failures-- > 0) throw new Error("not yet")
  })
  void run(consumer)
  await vi.waitFor(() => expect(logged).toHaveLength(1))
  expect(logged[0]).toContain("not yet")
  expect(await store.journal.position("recorder")).toBe(0)
  expect(await store.bindings.get("written by the consumer")).toBeUndefined()
  await caughtUp()
  expect(consumer.batches).toEqual([
    ["a", "b"],
    ["a", "b"],
  ])
  expect((await store.bindings.get("written by the consumer"))?.rootUri).toBe("file:///0")
})

test("with every wake-up lost it still catches up", async () => {
  const deaf = { ...store, onWake: () => () => {} }
  const consumer = recorder()
  void run(consumer, deaf)
  await vi.waitFor(() => expect(consumer.batches).toEqual([]))
  await append("a")
  await caughtUp()
  expect(consumer.batches).toEqual([["a"]])
})

test("it stops at the signal, while it waits and while it pauses after a failure", async () => {
  const waiting = run(recorder())
  const startedMs = Date.now()
  await stop()
  await waiting
  await append("a")
  const failing = run(recorder(() => Promise.reject(new Error("always"))))
  await vi.waitFor(() => expect(logged).toHaveLength(1))
  await stop()
  await failing
  expect(Date.now() - startedMs).toBeLessThan(20_000)
})

test("a batch under way is settled before it stops", async () => {
  await append("a")
  let goOn = () => {}
  const consumer = recorder(
    () =>
      new Promise((resolve) => {
        goOn = resolve
      }),
  )
  void run(consumer)
  await vi.waitFor(() => expect(consumer.batches).toHaveLength(1))
  const stopped = stop()
  goOn()
  await stopped
  expect(await store.journal.position("recorder")).toBe(1)
})
