import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store } from "../domain/store.ts"
import { sqlite } from "./dialects/sqlite.ts"
import { openStore } from "./open.ts"

const SECRET = "correct-horse-battery-staple"
let dir: string
let path: string
let store: Store
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "log-"))
  path = join(dir, "t.db")
  store = await openStore(sqlite({ path }))
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const filesWith = (text: string) => readdirSync(dir).filter((name) => readFileSync(join(dir, name)).includes(text))

/** Longer than a page, so that it has pages of its own, which are freed. */
async function replaceSecret(): Promise<void> {
  const payload = { text: `${SECRET} `.repeat(1_000) }
  await store.deliveries.enqueue({ key: "a", lane: "l", channel: "c", repeatable: false, payload }, 1)
  const { seq } = (await store.deliveries.byKey("a"))!
  await store.deliveries.rewrite(seq, { text: "cleaned" })
}

/** Another connection in the middle of a read, as a thread may be. */
function reader() {
  const db = new Database(path, { readonly: true })
  db.exec("begin")
  db.prepare("select count(*) from deliveries").get()
  return { end: () => db.close() }
}

test("replaced text leaves every file while the store is open", async () => {
  await replaceSecret()
  expect(filesWith(SECRET)).toContain("t.db-wal")
  expect(await store.emptyLog()).toBe(true)
  expect(filesWith(SECRET)).toEqual([])
  expect(statSync(`${path}-wal`).size).toBe(0)
  expect((await store.deliveries.byKey("a"))?.payload).toEqual({ text: "cleaned" })
})

test("a reader is not waited for; once it has ended, the log can be emptied", async () => {
  await replaceSecret()
  const reading = reader()
  const startMs = performance.now()
  expect(await store.emptyLog()).toBe(false)
  // The busy timeout is five seconds, in which nothing else of the program would run.
  expect(performance.now() - startMs).toBeLessThan(3_000)
  await store.deliveries.enqueue({ key: "b", lane: "l", channel: "c", repeatable: false, payload: {} }, 1)
  reading.end()
  expect(await store.emptyLog()).toBe(true)
  expect(filesWith(SECRET)).toEqual([])
})

test("a purge waits for a reader without stopping the program", async () => {
  await replaceSecret()
  const reading = reader()
  let turns = 0
  const counting = setInterval(() => turns++, 5)
  const ending = setTimeout(() => reading.end(), 300)
  await store.purge()
  clearInterval(counting)
  clearTimeout(ending)
  expect(turns).toBeGreaterThan(3)
  expect(filesWith(SECRET)).toEqual([])
})

test("it waits for a transaction that is open, and leaves it whole", async () => {
  await replaceSecret()
  const order: string[] = []
  const working = store.transaction(async (tx) => {
    await tx.deliveries.enqueue({ key: "b", lane: "l", channel: "c", repeatable: false, payload: {} }, 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    order.push("committed")
  })
  const emptying = store.emptyLog().then(() => order.push("emptied"))
  await Promise.all([working, emptying])
  expect(order).toEqual(["committed", "emptied"])
  expect(await store.deliveries.byKey("b")).toBeDefined()
})
