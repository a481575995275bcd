import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeRules } from "../capture/watch/rules.ts"
import type { Caller } from "../domain/caller.ts"
import type { Store } from "../domain/store.ts"
import { TASK_STATE_FILE } from "../domain/task-file.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeSessions, type SessionsModule } from "./module.ts"
import { makeTasks, type Tasks } from "./task-state.ts"

let dir: string
let project: string
let store: Store
let sessions: SessionsModule
let tasks: Tasks
let nowMs: number
let mirrored: string[]
let troubles: string[]
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "tasks-")))
  project = join(dir, "web")
  mkdirSync(project)
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = 1_700_000_000_000
  const clock = { nowMs: () => nowMs++ }
  sessions = makeSessions({ store, clock, homeDir: dir, tempDir: join(dir, "temp") })
  const capture = { exclude: [join(dir, "closed")], redactionOff: [], redactionExtra: [] }
  mirrored = []
  troubles = []
  tasks = makeTasks({
    store,
    clock,
    homeDir: dir,
    projects: sessions.projects,
    rules: makeRules({ store, clock, projects: sessions.projects, homeDir: dir, capture }),
    mirrorDirs: () => mirrored,
    onTrouble: (_, path) => troubles.push(path),
  })
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const agent = (id?: string, folder = project): Caller => ({
  surface: "mcp",
  projectDir: folder,
  ...(id === undefined ? {} : { nativeSession: { platform: "claude-code", id } }),
})

describe("the state of a task", () => {
  test("is what was saved, and what is not given stays", async () => {
    await tasks.save(agent("a"), { currentTask: "fix the DNS", currentTaskId: "m-1", pendingMessages: ["m-2"] })
    await tasks.save(agent("a"), { lastCompletedStep: "2" })
    await tasks.save(agent("a"), { pendingMessages: [], currentTaskId: null })
    expect(await tasks.load(agent("a"))).toEqual({
      isOwn: true,
      state: expect.objectContaining({
        currentTask: "fix the DNS",
        currentTaskId: null,
        lastCompletedStep: "2",
        pendingMessages: [],
        nativeSessionId: "a",
      }),
    })
  })

  test("of another session is the newest one's, from any subfolder, and says so", async () => {
    await tasks.save(agent("a"), { currentTask: "old" })
    await tasks.save(agent("b"), { currentTask: "new" })
    mkdirSync(join(project, "src"))
    expect(await tasks.load(agent("c", join(project, "src")))).toMatchObject({
      isOwn: false,
      state: { nativeSessionId: "b", currentTask: "new" },
    })
    expect(await tasks.load(agent("a"))).toMatchObject({ isOwn: true, state: { currentTask: "old" } })
    mkdirSync(join(dir, "other"))
    expect(await tasks.load(agent("c", join(dir, "other")))).toEqual({ state: undefined, isOwn: false })
  })

  test("moves to the session that continues it, and is gone when that one clears it", async () => {
    await tasks.save(agent("a"), { currentTask: "fix the DNS", lastCompletedStep: "2" })
    await tasks.save(agent("b"), { lastCompletedStep: "3" })
    expect((await tasks.load(agent("b"))).state).toMatchObject({ currentTask: "fix the DNS", lastCompletedStep: "3" })
    await tasks.clear(agent("b"))
    expect((await tasks.load(agent("c"))).state).toBeUndefined()
  })

  test("of a session that began another task is not mixed with it", async () => {
    await tasks.save(agent("a"), { currentTask: "fix the DNS", lastCompletedStep: "2" })
    await tasks.save(agent("b"), { currentTask: "paint the crane" })
    expect((await tasks.load(agent("b"))).state).toMatchObject({ lastCompletedStep: null })
    expect((await tasks.load(agent("a"))).state).toMatchObject({ currentTask: "fix the DNS" })
  })

  test("is cleared by a session that starts fresh, though it is another's", async () => {
    await tasks.save(agent("a"), { currentTask: "fix the DNS" })
    expect(await tasks.clear(agent("b"))).toMatchObject({ isOwn: false, state: { nativeSessionId: "a" } })
    expect(await tasks.clear(agent("b"))).toEqual({ isOwn: false, state: undefined })
  })

  test("is stored without secrets, and in the journal by name only", async () => {
    const secret = `ghp_${"aB3dE6gH9jK2".repeat(3)}`
    await tasks.save(agent("a"), { currentTask: `use ${secret} for it`, currentTaskId: "m-1" })
    expect(JSON.stringify((await tasks.load(agent("a"))).state)).not.toContain(secret)
    const entries = await store.journal.after(0, 100)
    expect(entries.at(-1)).toMatchObject({ kind: "task.saved", data: { session: "a", task: "m-1" } })
    expect(JSON.stringify(entries)).not.toContain("for it")
  })

  test("is refused in excluded folders and without a project", async () => {
    mkdirSync(join(dir, "closed"))
    await expect(tasks.save(agent("a", join(dir, "closed")), {})).rejects.toMatchObject({ code: "project_excluded" })
    await expect(tasks.load({ surface: "http" })).rejects.toMatchObject({ code: "root_unknown" })
  })

  test("is forgotten with its session, with its project, and by its text", async () => {
    await tasks.save(agent("a"), { currentTask: "the zebra" })
    await sessions.forget.forget({ containing: "zebra" })
    expect((await tasks.load(agent("a"))).state).toBeUndefined()
    const { state } = await tasks.save(agent("b"), { currentTask: "x" }).then(() => tasks.load(agent("b")))
    await sessions.forget.forget({ projectId: state!.projectId })
    expect((await tasks.load(agent("b"))).state).toBeUndefined()
  })
})

describe("the last completed step", () => {
  test.each([2, 0, -1.5, "2", "wrote the test"])("%j comes back as it was given", async (lastCompletedStep) => {
    await tasks.save(agent("a"), { currentTask: "x", lastCompletedStep })
    await tasks.save(agent("a"), { currentTaskId: "m-1" })
    expect((await tasks.load(agent("a"))).state!.lastCompletedStep).toBe(lastCompletedStep)
    await tasks.save(agent("b"), { currentTask: "x" })
    expect((await tasks.load(agent("b"))).state!.lastCompletedStep).toBe(lastCompletedStep)
  })
})

describe("the file in the project", () => {
  const path = () => join(project, TASK_STATE_FILE)

  test("is written on request, with the tool's keys, for its owner only, and deleted when cleared", async () => {
    mirrored = [project]
    await tasks.save(agent("a"), {
      currentTask: "mend",
      currentTaskId: "m-1",
      lastCompletedStep: 2,
      pendingMessages: ["m-2"],
    })
    expect(JSON.parse(readFileSync(path(), "utf8"))).toEqual({
      session_id: "a",
      current_task: "mend",
      current_task_id: "m-1",
      last_completed_step: 2,
      pending_messages: ["m-2"],
      updated_at: expect.stringMatching(/^2023-11-14T22:13:20\.\d{3}Z$/),
    })
    expect(lstatSync(path()).mode & 0o777).toBe(0o600)
    await tasks.save(agent("a"), { lastCompletedStep: "2" })
    expect(JSON.parse(readFileSync(path(), "utf8"))).toMatchObject({ last_completed_step: "2" })
    await tasks.clear(agent("a"))
    expect(lstatSync(path(), { throwIfNoEntry: false })).toBeUndefined()
  })

  test("is not written by default", async () => {
    await tasks.save(agent("a"), { currentTask: "mend" })
    expect(lstatSync(path(), { throwIfNoEntry: false })).toBeUndefined()
  })

  test("does not follow a symlink from a project", async () => {
    mirrored = [project]
    const precious = join(dir, "precious")
    writeFileSync(precious, "mine")
    symlinkSync(precious, path())
    await tasks.save(agent("a"), { currentTask: "mend" })
    expect(readFileSync(precious, "utf8")).toBe("mine")
    expect(lstatSync(path()).isFile()).toBe(true)
  })

  test("that cannot be written does not undo the save", async () => {
    mirrored = [join(dir, "nowhere")]
    await tasks.save(agent("a"), { currentTask: "mend" })
    expect(troubles).toEqual([join(dir, "nowhere", TASK_STATE_FILE)])
    expect((await tasks.load(agent("a"))).state?.currentTask).toBe("mend")
  })
})
