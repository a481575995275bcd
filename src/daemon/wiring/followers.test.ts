import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pino } from "pino"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import type { Follower, JournalEntry } from "../../domain/journal.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { follow } from "./followers.ts"

let folder: string
let store: Store
let logged: string[]
let stop: () => Promise<void>
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "throughline-followers-"))
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
function recorder(act: Follower["after"] = async () => {}): Follower & { batches: string[][] } {
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

function run(follower: Follower, on = store): Promise<void> {
  const stopping = new AbortController()
  const done = follow(on, follower, log, stopping.signal)
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

test("what comes while it waits is handed on at once", async () => {
  const follower = recorder()
  void run(follower)
  await append("a")
  await caughtUp()
  await append("b")
  const startedMs = Date.now()
  await caughtUp()
  expect(follower.batches.flat()).toEqual(["a", "b"])
  expect(Date.now() - startedMs).toBeLessThan(20_000)
})

test("more than fit in one batch are handed on in order, each once", async () => {
  const kinds = Array.from({ length: 1001 }, (_, index) => `entry ${index}`)
  await append(...kinds)
  const follower = recorder()
  void run(follower)
  await caughtUp()
  expect(follower.batches.flat()).toEqual(kinds)
  expect(follower.batches.length).toBeGreaterThan(1)
})

test("one that fails is handed the same entries again, what it wrote is undone, and the log says so", async () => {
  await append("a", "b")
  let failures = 1
  const follower = recorder(async (_, tx) => {
    await tx.bindings.set("written by the follower", { rootUri: `file:///${failures}` }, 1)
    if (failures-- > 0) throw new Error("not yet")
  })
  void run(follower)
  await vi.waitFor(() => expect(logged).toHaveLength(1))
  expect(logged[0]).toContain("not yet")
  expect(await store.journal.position("recorder")).toBe(0)
  expect(await store.bindings.get("written by the follower")).toBeUndefined()
  await caughtUp()
  expect(follower.batches).toEqual([
    ["a", "b"],
    ["a", "b"],
  ])
  expect((await store.bindings.get("written by the follower"))?.rootUri).toBe("file:///0")
})

test("with every wake-up lost it still catches up", async () => {
  const deaf = { ...store, onWake: () => () => {} }
  const follower = recorder()
  void run(follower, deaf)
  await vi.waitFor(() => expect(follower.batches).toEqual([]))
  await append("a")
  await caughtUp()
  expect(follower.batches).toEqual([["a"]])
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
  const follower = recorder(
    () =>
      new Promise((resolve) => {
        goOn = resolve
      }),
  )
  void run(follower)
  await vi.waitFor(() => expect(follower.batches).toHaveLength(1))
  const stopped = stop()
  goOn()
  await stopped
  expect(await store.journal.position("recorder")).toBe(1)
})
