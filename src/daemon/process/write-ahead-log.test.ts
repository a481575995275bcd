import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import Database from "better-sqlite3"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { emptyLogs } from "./write-ahead-log.ts"

let dir: string
let path: string
let store: Store
let stopping: AbortController
let running: Promise<void>
let troubles: unknown[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "log-"))
  path = join(dir, "t.db")
  store = await openStore(sqlite({ path }))
  stopping = new AbortController()
  troubles = []
})
afterEach(async () => {
  stopping.abort()
  await running
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const start = () => {
  running = emptyLogs({ store, signal: stopping.signal, onTrouble: (error) => troubles.push(error) })
}
const logBytes = () => statSync(`${path}-wal`).size
const write = (key: string) =>
  store.deliveries.enqueue({ key, lane: "l", channel: "c", repeatable: false, payload: { text: key } }, 1)
async function until(isSo: () => boolean, maxMs = 60_000): Promise<void> {
  for (const endMs = Date.now() + maxMs; !isSo(); await sleep(20)) if (Date.now() > endMs) throw new Error("too late")
}

test("what is written is moved out of the log, also what an earlier daemon left there", async () => {
  await write("earlier")
  expect(logBytes()).toBeGreaterThan(0)
  start()
  await until(() => logBytes() === 0)
  await write("later")
  expect(readFileSync(`${path}-wal`).includes("later")).toBe(true)
  await until(() => logBytes() === 0)
  expect(readFileSync(path).includes("later")).toBe(true)
  expect(troubles).toEqual([])
}, 180_000)

test("a steady stream of writes does not put it off", async () => {
  let isStreaming = true
  let emptied = false
  const streaming = (async () => {
    for (let n = 0; isStreaming; n++) {
      await write(`n${n}`)
      await sleep(20)
    }
  })()
  start()
  let most = 0
  await until(() => {
    most = Math.max(most, logBytes())
    emptied ||= logBytes() < most
    return emptied
  })
  isStreaming = false
  await streaming
  expect(troubles).toEqual([])
}, 180_000)

test("a reader only delays it", async () => {
  await write("a")
  const reader = new Database(path, { readonly: true })
  reader.exec("begin")
  reader.prepare("select count(*) from deliveries").get()
  let refused = 0
  const counting = {
    about: store.about,
    async emptyLog() {
      const isEmpty = await store.emptyLog()
      if (!isEmpty) refused++
      return isEmpty
    },
  }
  running = emptyLogs({ store: counting, signal: stopping.signal, onTrouble: (error) => troubles.push(error) })
  await until(() => refused >= 2)
  expect(logBytes()).toBeGreaterThan(0)
  reader.close()
  await until(() => logBytes() === 0)
  expect(troubles).toEqual([])
}, 180_000)
