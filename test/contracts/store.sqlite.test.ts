import {
  chmodSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { type SqliteOptions, sqlite } from "../../src/store/dialects/sqlite.ts"
import { openStore } from "../../src/store/open.ts"
import { afterCodexSources, migrateCodexSources } from "./store/codex-sources.ts"
import { addSession, NOW, newThought, range } from "./store/examples.ts"
import { storeContract } from "./store.ts"

const temporaryFolder = () => mkdtempSync(join(tmpdir(), "throughline-sqlite-"))
const asRoot = process.getuid?.() === 0

storeContract("the Store on SQLite", async () => {
  const folder = temporaryFolder()
  const open = () => openStore(sqlite({ path: join(folder, "throughline.db") }))
  const store = await open()
  let current = store
  return {
    store,
    async reopen() {
      await current.close()
      current = await open()
      return current
    },
    async dispose() {
      await current.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})

describe("the SQLite file", () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = temporaryFolder()
    path = join(folder, "throughline.db")
  })
  afterEach(() => {
    chmodSync(folder, 0o700)
    rmSync(folder, { recursive: true, force: true })
  })
  const open = (options: Partial<SqliteOptions> = {}) => openStore(sqlite({ path, ...options }))

  test("only its owner can read it and what lies beside it", async () => {
    path = join(folder, "new", "deep", "throughline.db")
    const store = await open()
    await addSession(store)
    for (const file of [path, `${path}-wal`]) expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600])
    expect(statSync(join(folder, "new", "deep")).mode & 0o777).toBe(0o700)
    await store.close()
  })

  test("a topic is found by its chat and thread, and by its session, without looking at the others", async () => {
    await (await open()).close()
    const db = new Database(path, { readonly: true })
    const plan = (where: string) =>
      (db.prepare(`EXPLAIN QUERY PLAN SELECT * FROM topics WHERE ${where}`).all() as { detail: string }[])
        .map(({ detail }) => detail)
        .join()
    expect(plan("channel = 'telegram' AND chat_id = '1' AND thread_id = 2")).toContain("USING INDEX topics_by_thread")
    expect(plan("session_id = 's'")).toContain("USING INDEX topics_by_session")
    expect(plan("name = 'n'"), "what has no index").toContain("SCAN")
    db.close()
  })

  test("the permissions of an older file are corrected", async () => {
    await (await open()).close()
    chmodSync(path, 0o644)
    await (await open()).close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test("a file that is not a database is kept aside, and a new store works", async () => {
    const garbage = "this is no database. ".repeat(1000)
    writeFileSync(path, garbage)
    const onKeptAside = vi.fn<(path: string) => void>()
    const store = await open({ onKeptAside })
    expect(onKeptAside).toHaveBeenCalledOnce()
    expect(readFileSync(onKeptAside.mock.calls[0]![0], "utf8")).toBe(garbage)
    expect((await addSession(store, { title: "new" })).title).toBe("new")
    await store.close()
  })

  test.each([
    ["in its first page", 200],
    ["in its middle", 3 * 4096],
  ])("a database that is damaged %s is kept aside, and a new store works", async (_, from) => {
    const before = await open()
    const { id } = await addSession(before)
    for (const number of range(50)) await before.thoughts.add(newThought(id, number, { text: "x".repeat(2000) }))
    await before.close()
    const file = openSync(path, "r+")
    writeSync(file, Buffer.alloc(20 * 4096, 0xa5), 0, 20 * 4096, from)
    const damaged = readFileSync(path)

    const onKeptAside = vi.fn<(path: string) => void>()
    const store = await open({ onKeptAside })
    expect(onKeptAside).toHaveBeenCalledOnce()
    expect(readFileSync(onKeptAside.mock.calls[0]![0]).equals(damaged)).toBe(true)
    expect(await store.sessions.list({})).toEqual([])
    await addSession(store)
    await store.close()
    const again = await open({ onKeptAside })
    expect(await again.sessions.list({})).toHaveLength(1)
    expect(onKeptAside).toHaveBeenCalledOnce()
    await again.close()
  })

  test("a sound database is not kept aside", async () => {
    await (await open()).close()
    const onKeptAside = vi.fn()
    await (await open({ onKeptAside })).close()
    expect(onKeptAside).not.toHaveBeenCalled()
    expect(readdirSync(folder)).toEqual(["throughline.db"])
  })

  test.for([
    ["its folder", "throughline.db"],
    ["the folder of its folder", "new/throughline.db"],
  ] as const)("where %s cannot be written, neither can the store", async ([_, name], { skip }) => {
    skip(asRoot, "root may write everywhere")
    path = join(folder, name)
    chmodSync(folder, 0o500)
    await expect(open()).rejects.toMatchObject({ name: "Failure", code: "store_readonly" })
  })

  test("a statement that ended the transaction itself is told as it was, and the next one works", async () => {
    const store = await open()
    const db = new Database(path)
    db.exec("create trigger stop before insert on journal begin select raise(rollback, 'the disk said no'); end")
    await expect(store.journal.append([{ kind: "made", atMs: NOW }])).rejects.toThrow("the disk said no")
    db.exec("drop trigger stop")
    db.close()
    await store.journal.append([{ kind: "made", atMs: NOW }])
    expect(await store.journal.after(0, 9)).toHaveLength(1)
    await store.close()
  })

  test.each([
    ["SQLITE_FULL", "store_full"],
    ["SQLITE_READONLY_DBMOVED", "store_readonly"],
    ["SQLITE_CORRUPT_VTAB", "store_corrupt"],
    ["SQLITE_BUSY_SNAPSHOT", "store_busy"],
    ["SQLITE_CONSTRAINT_UNIQUE", undefined],
  ])("the error %s is the Failure %s", (code, failure) => {
    expect(sqlite({ path }).translate(Object.assign(new Error("disk"), { code }))?.code).toBe(failure)
  })

  test("one in which sources of Codex were known by their paths knows them by their names", async () => {
    const store = await open()
    await migrateCodexSources(store, sqlite({ path }))
    await store.close()
    const again = await open()
    await afterCodexSources(again)
    await again.close()
  })

  test("one that a newer Throughline has written is left as it is", async () => {
    const store = await open()
    await addSession(store)
    await store.close()
    const db = new Database(path)
    db.prepare("insert into migrations (name, timestamp) values (?, ?)").run("9999_future", new Date(NOW).toISOString())
    db.close()
    const onKeptAside = vi.fn()
    await expect(open({ onKeptAside })).rejects.toMatchObject({ name: "Failure", code: "store_newer" })
    expect(onKeptAside).not.toHaveBeenCalled()
    expect(existsSync(path)).toBe(true)
  })
})
