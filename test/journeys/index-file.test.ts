import { mkdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { newSessionId } from "../../src/domain/ids.ts"
import { sqlite } from "../../src/store/dialects/sqlite.ts"
import { openStore } from "../../src/store/open.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { openTerminal } from "../fixtures/terminal.ts"
import { proves } from "../promises.ts"

interface Doctor {
  findings: { check: string; state: string; detail: string; remedy?: string }[]
  verdict: string
}

const SOON = { timeout: 60_000, interval: 100 }
const SLOW_MS = 240_000
const SESSIONS = 40
const TURNS = 600
let home: TestHome
let index: string
beforeAll(async () => {
  home = makeHome()
  index = join(home.dir, "index.db")
  await home.run("start")
  await home.run("stop")
  await fill(join(home.dir, "throughline.db"))
  for (const suffix of ["", "-wal", "-shm"]) rmSync(index + suffix, { force: true })
})
afterAll(() => home.dispose())

/** It ends with an exit code of its own when something is wrong. */
const searching = async () =>
  (JSON.parse((await home.run("doctor", "--json")).stdout) as Doctor).findings.find(({ check }) => check === "search")!
const stateOf = async () => (await home.json<{ search: { documents?: number; behind?: number } }>("status")).search

test(`an index that cannot be opened is reported by every command, and rebuilt once it is moved away. ${proves("search.rebuilt")}`, {
  timeout: SLOW_MS,
}, async () => {
  mkdirSync(index)
  await home.run("start")
  const searched = await home.run("search", "pelican")
  expect([searched.code, searched.stderr]).toEqual([7, expect.stringContaining(index)])
  expect((await home.run("status")).stdout).toMatch(/search {2}does not work: .*index\.db/)
  const doctor = await home.run("doctor")
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toContain(`First: mv ${index} ${index}.old`)
  expect(await searching()).toMatchObject({ state: "wrong", detail: expect.stringContaining(index) })
  // What else is kept can be read as ever.
  expect((await home.run("sessions")).code).toBe(0)
  // The log has it once, and not once a second.
  await new Promise((resolve) => setTimeout(resolve, 3_500))
  const { stdout } = await home.run("logs", "--lines", "500", "--json")
  expect(stdout.split("\n").filter((line) => line.includes("indexing failed"))).toHaveLength(1)

  renameSync(index, `${index}.old`)
  await expect.poll(stateOf, SOON).toMatchObject({ documents: SESSIONS * TURNS, behind: 0 })
  expect(await searching()).toMatchObject({ state: "good" })
  expect((await home.run("search", "pelican")).code).toBe(0)
})

test("rebuilt on purpose, a person sees how far it is, and everybody else that it is", {
  timeout: SLOW_MS,
}, async () => {
  const terminal = openTerminal(home, { cwd: home.env.HOME! })
  try {
    terminal.run("throughline reindex")
    await terminal.shows(/^\[█+░+\] \d+ % {2}\d+ journal entries left$/m)
    await expect.poll(() => terminal.lines().join("\n"), SOON).toContain("indexed in")
    expect(await terminal.exitCode()).toBe(0)
    expect(terminal.lines()[0]).toMatch(/^24000 turns and thoughts indexed in [\d.]+ s \([\d.]+ MB\)\.$/)
  } finally {
    terminal.end()
  }
  // On a busy machine a command may take longer to start than the index to be made, so it is made again and again.
  let isSeen = false
  const making = (async () => {
    while (!isSeen) await home.run("reindex")
  })()
  try {
    const said = (...args: string[]) => home.run(...args).then(({ stdout }) => stdout)
    await expect.poll(() => said("status"), SOON).toContain("search  rebuilding (requested)")
    const detail = expect.stringContaining("rebuil")
    await expect.poll(() => searching(), SOON).toMatchObject({ state: "warning", detail })
    await expect.poll(() => said("search", "pelican"), SOON).toContain("The index is being rebuilt")
  } finally {
    isSeen = true
    await making
  }
})

/** Straight into the store: what a year of work leaves behind, in a second. */
async function fill(path: string): Promise<void> {
  const store = await openStore(sqlite({ path }))
  const words = "harbour boat crane quay pelican outbox retry queue broker lock table worker crash invoice".split(" ")
  for (let number = 0; number < SESSIONS; number++) {
    const sessionId = newSessionId()
    const session = {
      id: sessionId,
      platform: "claude-code",
      nativeId: `s${number}`,
      projectId: null,
      tags: [],
      key: null,
    }
    await store.sessions.create({ ...session, title: `Session ${number}`, createdAtMs: number })
    const turns = Array.from({ length: TURNS }, (_, at) => ({
      sessionId,
      kind: at % 2 === 0 ? ("prompt" as const) : ("reply" as const),
      text: Array.from(
        { length: 60 },
        (_, word) => `${words[(at + word * word) % words.length]}${(at * word) % 97}`,
      ).join(" "),
      nativeId: `n${at}`,
      atMs: number * 1e7 + at * 1000,
      model: null,
      toolName: null,
      toolCallId: null,
      isError: false,
      isFallback: false,
      usage: null,
      sourceId: null,
    }))
    await store.transaction(async (tx) => {
      for (let from = 0; from < TURNS; from += 20) {
        const seqs = (await tx.turns.put(turns.slice(from, from + 20))).map(({ seq }) => seq)
        await tx.journal.append([{ kind: "turns.kept", sessionId, atMs: number, data: { seqs } }])
      }
    })
  }
  await store.close()
}
