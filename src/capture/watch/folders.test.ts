import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Caller } from "../../domain/caller.ts"
import type { Store } from "../../domain/store.ts"
import { DAY_MS } from "../../lib/time.ts"
import { makeProjectFinder } from "../../sessions/projects.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { type Folders, makeFolders } from "./folders.ts"

const START = 1_800_000_000_000

let top: string
let store: Store
let nowMs: number
let configured: string[]
let teamDirs: string[]
beforeEach(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "folders-")))
  store = await openStore(sqlite({ path: join(top, "t.db") }))
  ;[nowMs, configured, teamDirs] = [START, [], []]
})
afterEach(async () => {
  await store.close()
  rmSync(top, { recursive: true, force: true })
})

const folder = (name: string) => {
  mkdirSync(join(top, name), { recursive: true })
  return join(top, name)
}
const clock = { nowMs: () => nowMs }

/** As after a start of the daemon. */
function start(host = "here"): Folders {
  const homeDir = folder("home")
  const projects = makeProjectFinder({ store, clock, homeDir, tempDir: join(top, "temp") })
  const excluded = (dir: string) => dir.includes("private")
  const named = { configured: () => configured, teamDirs: () => teamDirs }
  return makeFolders({ store, clock, projects, homeDir, host, excluded, ...named })
}
const from = (cwd: string, more: Partial<Caller> = {}): Caller => ({ surface: "mcp", cwd, ...more })

async function followed(callers: Caller[], folders = start()): Promise<string[]> {
  for (const caller of callers) folders.met(caller)
  await folders.round()
  return folders.near()
}

test("the folder of a caller is followed, also by the next daemon on this machine and by no other", async () => {
  const dir = folder("home/a")
  expect(await followed([from(dir)])).toEqual([dir])
  expect(await followed([])).toEqual([dir])
  expect(await start().all()).toEqual([dir])
  expect(await followed([], start("there"))).toEqual([])
})

test("a caller in a subfolder means its folder and the root of its repository", async () => {
  const [repo, sub] = [folder("home/repo"), folder("home/repo/src")]
  execFileSync("git", ["init", "-q"], { cwd: repo })
  expect((await followed([from(sub)])).sort()).toEqual([repo, sub])
})

test("the home folder, what is above it, what is excluded and what is not there are not followed", async () => {
  const callers = [folder("home"), top, "/", folder("home/private"), join(top, "gone")].map((dir) => from(dir))
  expect(await followed(callers)).toEqual([])
})

test("folders of the settings and of teams are followed as they are now, links and ~ resolved", async () => {
  const [team, real] = [folder("team"), folder("real")]
  symlinkSync(real, join(folder("home"), "link"))
  const folders = start()
  ;[configured, teamDirs] = [["~/link", join(top, "not-yet")], [team]]
  expect(folders.near()).toEqual([real, join(top, "not-yet"), team])
  ;[configured, teamDirs] = [[], []]
  expect(await folders.all()).toEqual([])
})

test("a folder from which nobody called for a month is dropped, and one that is used stays", async () => {
  const [idle, used] = [folder("home/idle"), folder("home/used")]
  const folders = start()
  await followed([from(idle), from(used)], folders)
  nowMs += 20 * DAY_MS
  await followed([from(used)], folders)
  nowMs += 15 * DAY_MS
  expect(await followed([], folders)).toEqual([used])
  expect((await store.folders.of("here")).map(({ path }) => path)).toEqual([used])
})

test("of very many callers the newest stay, and what clients claim over TCP pushes none of them out", async () => {
  const first = folder("home/n0")
  const folders = start()
  await followed([from(first)], folders)
  for (let n = 0; n < 40; n++) await folders.follow(from(folder(`home/claim${n}`), { isRemote: true }))
  expect(folders.near()).toHaveLength(33)
  expect(await store.folders.of("here")).toHaveLength(1)
  for (let n = 1; n <= 260; n++) {
    nowMs += 1_000
    await folders.follow(from(folder(`home/n${n}`)))
  }
  const stored = (await store.folders.of("here")).map(({ path }) => path)
  expect(stored).toHaveLength(256)
  expect(stored).not.toContain(first)
  expect(folders.near()).toHaveLength(256 + 32)
})

test("what known projects are looked at most often is bounded, the newest first", async () => {
  for (let n = 0; n < 300; n++) await store.projects.ensure(`file:///w/${n}`, START + n)
  const folders = start()
  expect(await folders.all()).toHaveLength(300)
  expect(folders.near()).toHaveLength(256)
  expect(folders.near()).not.toContain("/w/0")
  folders.add(await store.projects.ensure("file:///w/0", START))
  expect(folders.near()).toContain("/w/0")
  expect(folders.near()).toHaveLength(256)
})
