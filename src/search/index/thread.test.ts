import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeTestSearch, type TestSearch } from "../../../test/fixtures/recall.ts"
import { Failure } from "../../domain/failure.ts"
import { makeSearchThread, type SearchThread } from "./thread.ts"

let dir: string
let workers: Worker[]
let troubles: string[]
let threads: SearchThread[]
let archives: TestSearch[]
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-thread-")))
  workers = []
  troubles = []
  threads = []
  archives = []
})
afterEach(async () => {
  for (const thread of threads) await thread.stop()
  for (const archive of archives) await archive.close()
  rmSync(dir, { recursive: true, force: true })
})

function threadOf(start: () => Worker): SearchThread {
  const thread = makeSearchThread({
    start() {
      const worker = start()
      workers.push(worker)
      return worker
    },
    onTrouble: (error) => troubles.push(String(error)),
    onRebuild: () => {},
  })
  threads.push(thread)
  return thread
}

/** The one that the daemon starts, on an archive in which this was said. */
async function archiveOf(prompts: number): Promise<() => Worker> {
  const recall = await makeTestSearch()
  const sessionId = await recall.session("one")
  const said = Array.from(
    { length: prompts },
    (_, at) => ["prompt", `harbour ${at} ${"boats and cranes ".repeat(40)}`] as const,
  )
  for (let at = 0; at < prompts; at += 100) await recall.say(sessionId, ...said.slice(at, at + 100))
  const archive = join(recall.dir, "throughline.db")
  const data = { archive: { path: archive }, indexPath: join(dir, "index.db"), vectorsPath: "", embedder: "none" }
  archives.push(recall)
  return () =>
    new Worker(new URL("../../daemon/process/indexer.ts", import.meta.url), { workerData: data, execArgv: [] })
}
/** A thread that answers, but for the words that are its own: what the other side must stand. */
const SCRIPTED = `
  const { parentPort } = require("node:worker_threads")
  parentPort.on("message", ({ id, what, given }) => {
    if (what === "end") return parentPort.close()
    if (id === undefined) return
    const query = given[0]?.query
    if (query === "throw") throw new Error("out of memory")
    if (query === "exit") process.exit(3)
    if (query === "hang") return
    if (query === "tired") parentPort.postMessage({ what: "rest", given: [{ documents: 7 }] })
    parentPort.postMessage({ id, value: { hits: [], what } })
    if (query === "tired") parentPort.postMessage({ what: "idle", given: [] })
  })
`
const scripted = () => threadOf(() => new Worker(SCRIPTED, { eval: true }))
const asking = (query: string) => ({ query, limit: 1 })
const gone = (worker: Worker) => new Promise((resolve) => worker.once("exit", resolve))

describe("a thread that dies", () => {
  test.each(["throw", "exit"])("fails what was asked of it, is told of, and is started again (%s)", async (query) => {
    const thread = scripted()
    const waiting = thread.search(asking("hang"))
    const [refused, other] = await Promise.allSettled([thread.search(asking(query)), waiting])
    for (const { status, reason } of [refused, other] as PromiseRejectedResult[]) {
      expect(status).toBe("rejected")
      expect(reason).toBeInstanceOf(Failure)
      expect(reason.message).toContain("stopped in the middle")
    }
    expect(troubles).toHaveLength(1)
    expect(await thread.search(asking("harbour"))).toMatchObject({ what: "search" })
    expect(workers).toHaveLength(2)
  })

  test("is not started again at once by everything that happens", async () => {
    const thread = scripted()
    await thread.search(asking("throw")).catch(() => {})
    for (let time = 0; time < 10; time++) thread.wake()
    expect(workers).toHaveLength(1)
  })

  test("in the middle of indexing, goes on where it was", { timeout: 240_000 }, async () => {
    const thread = threadOf(await archiveOf(2_000))
    thread.wake()
    while ((await thread.facts()).documents < 300);
    await workers[0]!.terminate()
    await thread.reached(20)
    expect((await thread.facts()).documents).toBe(2_000)
    expect(workers).toHaveLength(2)
  })
})

describe("a thread that has nothing to do", () => {
  test("ends, is not started only to say how things are, and is when something is asked", async () => {
    const thread = scripted()
    await thread.search(asking("tired"))
    await gone(workers[0]!)
    expect(await thread.facts()).toEqual({ documents: 7 })
    expect(workers).toHaveLength(1)
    expect(await thread.search(asking("harbour"))).toMatchObject({ hits: [] })
    thread.wake()
    expect(workers).toHaveLength(2)
    expect(troubles).toEqual([])
  })

  test("is gone before another one begins on the same files", async () => {
    const thread = scripted()
    await thread.search(asking("harbour"))
    let isGone = false
    void gone(workers[0]!).then(() => {
      isGone = true
    })
    const idle = new Promise<void>((resolve) =>
      workers[0]!.on("message", ({ what }: { what?: string }) => what === "idle" && resolve()),
    )
    await thread.search(asking("tired"))
    await idle
    const answer = thread.search(asking("harbour"))
    expect(workers).toHaveLength(1)
    await answer
    expect([isGone, workers.length]).toEqual([true, 2])
  })
})

describe("stopping", () => {
  test("in the middle of indexing lets it put away what it has, and the next one goes on", {
    timeout: 30_000,
  }, async () => {
    const start = await archiveOf(3_000)
    const thread = threadOf(start)
    thread.wake()
    while ((await thread.facts()).documents < 300);
    const waiting = thread.reached(1_000_000).catch((error: unknown) => error)
    const startedMs = performance.now()
    await thread.stop()
    expect(performance.now() - startedMs).toBeLessThan(20_000)
    expect(await waiting).toMatchObject({ code: "daemon_unreachable" })
    await expect(thread.search(asking("harbour"))).rejects.toMatchObject({ code: "daemon_unreachable" })
    thread.wake()
    expect(workers).toHaveLength(1)
    const next = threadOf(start)
    await next.reached(30)
    expect((await next.facts()).documents).toBe(3_000)
    expect(troubles).toEqual([])
  })

  test("does not wait for a thread that hangs any longer than for one that works", async () => {
    const thread = scripted()
    const waiting = thread.search(asking("hang")).catch((error: unknown) => error)
    await thread.stop()
    expect(await waiting).toBeInstanceOf(Failure)
    await thread.stop()
  })
})
