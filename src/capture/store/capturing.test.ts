import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import Database from "better-sqlite3"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeTestArchive, type TestArchive } from "../../../test/fixtures/archive.ts"
import { samples } from "../../../test/fixtures/platform-samples.ts"
import { platforms } from "../../agents/list.ts"
import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../domain/store.ts"
import { loopStates } from "../../lib/supervised-loop.ts"
import { makeReaderThread } from "../read/reader-thread.ts"
import type { Archive } from "./archive.ts"
import { type Capturing, makeCapturing } from "./capturing.ts"

const line = (record: unknown) => `${JSON.stringify(record)}\n`
const idOf = (n: number) => `5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2${String(n).padStart(3, "0")}`
const pathOf = (n: number) => `.claude/projects/-w-app/${idOf(n)}.jsonl`
const said = (n: number, uuid: string, content: string) =>
  line({
    type: "user",
    uuid,
    sessionId: idOf(n),
    timestamp: "2026-08-16T08:00:00.000Z",
    cwd: "/w/app",
    message: { content },
  })

let kept: TestArchive
let troubles: string[]
let stops: (() => Promise<void>)[]
beforeEach(async () => {
  kept = await makeTestArchive()
  troubles = []
  stops = []
})
afterEach(async () => {
  for (const stop of stops) await stop()
  await kept.close()
})

/** As the daemon runs it; with a thread of its own for reading, if told so. */
function start(
  options: { store?: Store; archive?: Archive; startReader?: () => Worker } = {},
): Capturing & { stop(): Promise<void> } {
  const { archive = kept.archive, startReader } = options
  const onTrouble = (source: { path: string }, error: unknown) =>
    troubles.push(`${source.path.split("/").at(-1)}: ${error instanceof Error ? error.message : error}`)
  const capturing = makeCapturing({
    store: options.store ?? kept.store,
    clock: { nowMs: Date.now },
    archive,
    reading: startReader && makeReaderThread({ start: startReader, archive, onRest: () => {}, onTrouble: () => {} }),
    platforms,
    machine: { os: "linux", homeDir: kept.homeDir, env: {} },
    folders: { round: async () => {}, all: async () => [], near: () => [] },
    onTrouble,
  })
  const stopping = new AbortController()
  const running = capturing.run(stopping.signal)
  const stop = async () => {
    stopping.abort()
    await running
  }
  stops.push(stop)
  return { ...capturing, stop }
}

const reader = () =>
  new Worker(new URL("../../daemon/process/reader.ts", import.meta.url), {
    workerData: { exclude: [], redactionOff: [], redactionExtra: [] },
  })
const texts = async () => (await kept.rows()).map(({ text }) => text)
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(5)
}

describe("importing", () => {
  test("is done at once without sources", async () => {
    const capturing = start()
    await until(() => !capturing.progress().importing)
    expect(capturing.progress()).toMatchObject({ sourcesLeft: 0, sourcesDone: 0, platforms: [] })
  })

  test("reads the newest first, and is done when everything is read", async () => {
    const order: string[] = []
    for (const n of [3, 1, 2]) kept.write(pathOf(n), said(n, "u", `of ${n}`.padEnd(2_000_000, " .")))
    const archive: Archive = {
      ...kept.archive,
      keep(batch) {
        for (const capture of batch.captures) if (capture.type === "turn") order.push(capture.sessionId.slice(-3))
        return kept.archive.keep(batch)
      },
    }
    const capturing = start({ archive })
    await until(() => !capturing.progress().importing)
    expect(order).toEqual(["002", "001", "003"])
    expect(capturing.progress()).toMatchObject({ sourcesLeft: 0, sourcesDone: 3, bytesLeft: 0, turns: 3 })
  })

  test("of sources read before reads and writes nothing", async () => {
    for (const n of [1, 2]) kept.write(pathOf(n), said(n, "u", `of ${n}`))
    const first = start()
    await until(() => !first.progress().importing)
    await first.stop()
    const [entry, read] = [await kept.store.journal.last(), await kept.source(pathOf(1))]
    const second = start()
    await until(() => !second.progress().importing)
    expect(second.progress()).toMatchObject({ sourcesDone: 0, turns: 0, bytesDone: 0 })
    expect([await kept.store.journal.last(), await kept.source(pathOf(1))]).toEqual([entry, read])
  })
})

test("a database that was read in the middle of a commit is read again when the commit ends", async () => {
  samples.cursor!(kept.homeDir, { prompts: ["before"], unknown: 0 })
  const path = join(kept.homeDir, ".config/Cursor/User/globalStorage/state.vscdb")
  const db = new Database(path)
  db.pragma("journal_mode = DELETE")
  db.pragma("synchronous = OFF")
  db.exec("BEGIN")
  db.exec(`INSERT INTO cursorDiskKV SELECT key, json_set(value, '$.lastUpdatedAt', 1785571300000,
    '$.fullConversationHeadersOnly[1]', json('{"bubbleId":"b1","type":1}')) FROM cursorDiskKV WHERE key = 'composerData:c-1'`)
  db.exec(`INSERT INTO cursorDiskKV SELECT 'bubbleId:c-1:b1', json_set(value, '$.bubbleId', 'b1', '$.text', 'after')
    FROM cursorDiskKV WHERE key = 'bubbleId:c-1:b0'`)
  const journal = readFileSync(`${path}-journal`)
  db.exec("COMMIT")
  db.close()
  // As in the middle of the commit: the pages are written, and the journal is not deleted yet.
  writeFileSync(`${path}-journal`, journal)

  const capturing = start()
  await until(() => !capturing.progress().importing)
  expect(await texts()).toEqual(["before"])
  rmSync(`${path}-journal`)
  await capturing.sync()
  expect(await texts()).toEqual(["before", "after"])
})

describe("a source that cannot be read", () => {
  const BAD = ".gemini/tmp/app/chats/session-2026-08-01T10-00-9a1b0000.json"

  test("is recorded, blocks no other, and is retried although unchanged", async () => {
    kept.write(BAD, "{")
    kept.write(pathOf(1), said(1, "u", "fine"))
    const capturing = start()
    await until(() => !capturing.progress().importing)
    expect(await texts()).toEqual(["fine"])
    const [trouble] = troubles
    expect(trouble).toMatch(/^session-.*JSON/)
    await capturing.sync()
    expect(troubles.length).toBeGreaterThan(1)
    expect(new Set(troubles)).toEqual(new Set([trouble]))
    expect(await kept.source(BAD)).toMatchObject({ trouble: expect.stringContaining("JSON"), inode: "" })
  }, 240_000)

  test("because the store failed is read at the next sweep, and not recorded as read", async () => {
    let isFull = true
    const archive: Archive = {
      ...kept.archive,
      keep: (batch) => (isFull ? Promise.reject(new Failure("store_full", "no room")) : kept.archive.keep(batch)),
    }
    kept.write(pathOf(1), said(1, "u", "one"))
    const capturing = start({ archive })
    for (let sweep = 0; sweep < 8; sweep++) await capturing.sync()
    expect(await texts()).toEqual([])
    isFull = false
    await capturing.sync()
    expect(await texts()).toEqual(["one"])
    expect((await kept.source(pathOf(1)))?.trouble).toBeNull()
  })

  test("because the database was unavailable is read later, and no reader is lost", async () => {
    let isAway = false
    const sources = new Proxy(kept.store.sources, {
      get: (target, name) =>
        isAway
          ? () => Promise.reject(new Failure("store_unreachable", "connection refused"))
          : Reflect.get(target, name, target),
    })
    const capturing = start({ store: { ...kept.store, sources } })
    await until(() => !capturing.progress().importing)
    isAway = true
    // More than there are readers: each of them meets the outage.
    for (let n = 1; n <= 100; n++) kept.write(pathOf(n), said(n, "u", `line ${n}`))
    await expect(capturing.sync()).rejects.toMatchObject({ code: "store_unreachable" })
    expect(loopStates().find(({ name }) => name === "capture reader")).toMatchObject({
      state: "restarting",
      error: "connection refused",
    })
    isAway = false
    await until(async () => {
      await capturing.sync()
      return (await texts()).length === 100
    })
    await until(() => loopStates().find(({ name }) => name === "capture reader")?.state === "running")
  }, 240_000)
})

describe("in a reader thread", () => {
  test("reading is the same, and secrets do not leave the thread", async () => {
    const seen: string[] = []
    const archive: Archive = {
      ...kept.archive,
      keep(batch) {
        for (const capture of batch.captures) if (capture.type === "turn") seen.push(capture.text)
        return kept.archive.keep(batch)
      },
    }
    kept.write(pathOf(1), said(1, "u1", "the key is ghp_x9KqZ2mW7vB4nT6rY1sD8fG3hJ5kL0pQ2wE4") + said(1, "u2", "ünd"))
    const capturing = start({ archive, startReader: reader })
    await until(() => !capturing.progress().importing)
    expect(await texts()).toEqual(["the key is [redacted:github-token]", "ünd"])
    expect(seen).toEqual(await texts())
    kept.append(pathOf(1), said(1, "u3", "three"))
    await capturing.sync()
    expect(await texts()).toHaveLength(3)
    expect(troubles).toEqual([])
  }, 240_000)

  test("a failure of the store keeps its type", async () => {
    const archive: Archive = { ...kept.archive, keep: () => Promise.reject(new Failure("store_full", "no room")) }
    kept.write(pathOf(1), said(1, "u", "one"))
    const capturing = start({ archive, startReader: reader })
    for (let sweep = 0; sweep < 7; sweep++) await capturing.sync()
    expect(troubles.length).toBeGreaterThan(5)
    expect(new Set(troubles.map((trouble) => trouble.split(": ")[1]))).toEqual(new Set(["no room"]))
  }, 240_000)

  test("a crashed thread is restarted, and the next sweep reads its sources", async () => {
    const threads: Worker[] = []
    let isDying = true
    const archive: Archive = {
      ...kept.archive,
      async keep(batch) {
        if (isDying) await threads.at(-1)!.terminate()
        isDying = false
        return kept.archive.keep(batch)
      },
    }
    kept.write(pathOf(1), said(1, "u1", "one"))
    kept.write(pathOf(2), said(2, "u1", "two"))
    const capturing = start({
      archive,
      startReader: () => {
        threads.push(reader())
        return threads.at(-1)!
      },
    })
    await until(() => !capturing.progress().importing)
    await capturing.sync()
    expect((await texts()).sort()).toEqual(["one", "two"])
    expect(threads).toHaveLength(2)
    expect((await kept.source(pathOf(1)))?.trouble).toBeNull()
  }, 240_000)

  test("stopping does not wait for a big file; the rest is read the next time", async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => said(1, `u${n}`, `turn ${n}`)).join("")
    kept.write(pathOf(1), many)
    const first = start({ startReader: reader })
    await until(() => first.progress().turns > 0 || first.progress().bytesDone > 0)
    await first.stop()
    const before = (await texts()).length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(20_000)
    expect((await kept.source(pathOf(1)))?.trouble).toBeNull()
    expect(troubles).toEqual([])
    const second = start({ startReader: reader })
    await until(() => !second.progress().importing)
    expect(await texts()).toHaveLength(20_000)
  }, 240_000)

  test("a file deleted before it is read is no trouble", async () => {
    const path = kept.write(pathOf(1), said(1, "u", "one"))
    const archive: Archive = {
      ...kept.archive,
      keep(batch) {
        rmSync(path, { force: true })
        return kept.archive.keep(batch)
      },
    }
    kept.write(pathOf(2), said(2, "u", "two"))
    const capturing = start({ archive, startReader: reader })
    await until(() => !capturing.progress().importing)
    await capturing.sync()
    expect(await texts()).toContain("two")
    expect(troubles).toEqual([])
  }, 240_000)
})
