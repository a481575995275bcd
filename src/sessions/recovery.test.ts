import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"
import { rootUri } from "../lib/roots.ts"
import { MINUTE_MS } from "../lib/time.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeSessions, type SessionsModule } from "./module.ts"
import type { Recovered } from "./recovery.ts"

let top: string
let store: Store
let module: SessionsModule
let nowMs: number
beforeEach(async () => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-recovery-")))
  store = await openStore(sqlite({ path: join(top, "throughline.db") }))
  nowMs = 1_800_000_000_000
  module = makeSessions({
    store,
    clock: { nowMs: () => nowMs },
    homeDir: join(top, "home"),
    tempDir: join(top, "temp"),
  })
})
afterEach(async () => {
  await store.close()
  rmSync(top, { recursive: true, force: true })
})

function folder(name: string): string {
  mkdirSync(join(top, name), { recursive: true })
  return join(top, name)
}
const agent = (key: string, project = "app"): Caller => ({ surface: "mcp", key, cwd: folder(project) })
const start = (title: string, project = "app") =>
  module.recovery.startNew(agent(`starter of ${title}`, project), { title })
const think = (sessionId: string, thought: string, more: object = {}) =>
  module.thinking.record(agent("thinker"), { sessionId, thought, nextThoughtNeeded: true, ...more })

async function load(
  request: Parameters<typeof module.recovery.load>[1] = {},
  caller = agent("fresh"),
): Promise<Recovered> {
  const found = await module.recovery.load(caller, request)
  if (!found.session) throw new Error(`nothing found for ${found.rootUri}`)
  return found
}

describe("without an id", () => {
  test(proves("recovery.by-root"), async () => {
    for (const title of ["first", "second"]) {
      await start(title)
      nowMs += 20 * MINUTE_MS
    }
    await start("of another project", "other")
    expect(await load()).toMatchObject({ session: { title: "second" }, by: "newest", otherRoot: false, rivals: [] })
  })

  test("the newest is the one touched last, not the one started last", async () => {
    const first = await start("first")
    nowMs += 20 * MINUTE_MS
    await start("second")
    nowMs += 20 * MINUTE_MS
    await think(first.id, "one more step")
    expect((await load()).session.title).toBe("first")
  })

  test(proves("recovery.pinned"), async () => {
    const old = await start("old")
    nowMs += 60 * MINUTE_MS
    await start("new")
    await module.edits.pin(old.id, true)
    expect(await load()).toMatchObject({ session: { title: "old" }, by: "pinned" })
    await module.edits.pin(old.id, false)
    expect(await load()).toMatchObject({ session: { title: "new" }, by: "newest" })
  })

  test("of several pinned ones, the one pinned last is recovered", async () => {
    const [a, b] = [await start("a"), await start("b")]
    await module.edits.pin(b.id, true)
    nowMs += 1
    await module.edits.pin(a.id, true)
    expect((await load()).session.title).toBe("a")
    nowMs += 1
    await module.edits.pin(b.id, true)
    expect((await load()).session.title).toBe("b")
  })

  test(proves("recovery.candidates"), async () => {
    await start("too old")
    nowMs += 1
    await start("ten minutes before")
    nowMs += 10 * MINUTE_MS
    await start("newest")
    const { session, rivals } = await load()
    expect(session.title).toBe("newest")
    expect(rivals.map((rival) => rival.title)).toEqual(["ten minutes before"])
  })

  test("beside a pinned session, the newest and those near it are named", async () => {
    const pinned = await start("pinned")
    await module.edits.pin(pinned.id, true)
    nowMs += 60 * MINUTE_MS
    await start("newest")
    expect((await load()).rivals.map((rival) => rival.title)).toEqual(["newest"])
  })

  test("archived sessions are not found, pinned or not", async () => {
    const archived = await start("archived")
    await module.edits.pin(archived.id, true)
    await module.edits.archive(archived.id, true)
    expect(await module.recovery.load(agent("fresh"), {})).toEqual({
      session: undefined,
      rootUri: rootUri(folder("app")),
    })
  })

  test("a project without sessions says which one was looked for", async () => {
    expect(await module.recovery.load(agent("fresh", "empty"), {})).toEqual({
      session: undefined,
      rootUri: rootUri(folder("empty")),
    })
  })

  test("a caller without any root is told so", async () => {
    await expect(module.recovery.load({ surface: "mcp", key: "lost" }, {})).rejects.toMatchObject({
      code: "root_unknown",
    })
  })

  test("a session linked to a second project is found from there", async () => {
    const shared = await start("shared")
    await module.edits.linkRoot(shared.id, folder("other"))
    expect(await load({}, agent("fresh", "other"))).toMatchObject({ session: { id: shared.id }, otherRoot: false })
    expect((await load()).session.id).toBe(shared.id)
  })

  test("a session started in a subfolder is found from there, also after the repository is gone", async () => {
    execFileSync("git", ["init", "-q", folder("repo")], { stdio: "pipe" })
    const session = await start("in the subfolder", "repo/packages/a")
    expect(session.rootUri).toBe(rootUri(join(top, "repo")))
    rmSync(join(top, "repo"), { recursive: true })
    const found = await load({ root: join(top, "repo/packages/a") }, { surface: "mcp" })
    expect(found.session.id).toBe(session.id)
  })
})

describe("with an id", () => {
  test(proves("recovery.explicit-id"), async () => {
    const there = await start("there")
    await start("here", "other")
    await module.edits.archive(there.id, true)
    const found = await load({ sessionId: there.id }, agent("fresh", "other"))
    expect(found).toMatchObject({ session: { title: "there" }, by: "id", otherRoot: true })
    expect(found.session.archivedAtMs).not.toBeNull()
  })

  test("the caller's own project, or one that the session is linked to, is not another one", async () => {
    const session = await start("mine")
    expect((await load({ sessionId: session.id })).otherRoot).toBe(false)
    await module.edits.linkRoot(session.id, folder("other"))
    expect((await load({ sessionId: session.id }, agent("fresh", "other"))).otherRoot).toBe(false)
  })

  test("a caller that knows no root, or a wrong one, is served all the same", async () => {
    const session = await start("mine")
    expect(await load({ sessionId: session.id }, { surface: "mcp" })).toMatchObject({ otherRoot: false })
    expect(await load({ sessionId: session.id, root: join(top, "nowhere") })).toMatchObject({ otherRoot: false })
  })

  test("a client that can be asked for its roots is asked, so that another project can be noted", async () => {
    const session = await start("mine")
    await expect(load({ sessionId: session.id }, { surface: "mcp", canAskRoots: true })).rejects.toMatchObject({
      code: "root_needed",
    })
  })

  test("the beginning of an id is enough if it is unique", async () => {
    const session = await start("mine")
    expect((await load({ sessionId: session.id.slice(0, 8) })).session.id).toBe(session.id)
    await expect(load({ sessionId: session.id.slice(0, 3) })).rejects.toMatchObject({ code: "session_not_found" })
    await expect(load({ sessionId: "no such id" })).rejects.toMatchObject({
      code: "session_not_found",
      message: "Session no such id not found",
    })
  })

  test("a beginning that two sessions share is refused", async () => {
    for (const id of ["abcd-1", "abcd-2"]) {
      await store.sessions.create({
        id: id as Session["id"],
        platform: "test",
        nativeId: id,
        projectId: null,
        title: id,
        tags: [],
        key: null,
        createdAtMs: nowMs,
      })
    }
    await expect(load({ sessionId: "abcd" })).rejects.toMatchObject({ code: "session_ambiguous" })
    expect((await load({ sessionId: "abcd-1" })).session.id).toBe("abcd-1")
  })
})

describe("page by page", () => {
  const allPages = async (request: Parameters<typeof load>[0]) => {
    const pages: string[][] = []
    for (let cursor: string | undefined; ; ) {
      const { page } = await load(cursor === undefined ? request : { ...request, cursor })
      pages.unshift(page.thoughts.map((thought) => thought.text))
      if (page.olderCursor === null) return pages
      cursor = page.olderCursor
    }
  }

  test(proves("recovery.whole"), async () => {
    const session = await start("long")
    for (let step = 1; step <= 5; step++) await think(session.id, `main ${step}`)
    await think(session.id, "aside", { branchId: "b", branchFromThought: 2 })
    await think(session.id, "main 6")
    expect(await allPages({ limit: 3 })).toEqual([
      ["main 1"],
      ["main 2", "main 3", "main 4"],
      ["main 5", "aside", "main 6"],
    ])
    expect((await load({ limit: 3 })).page.total).toBe(7)
  })

  test("a page holds no more characters than an agent accepts, and always one thought", async () => {
    const session = await start("wordy")
    for (const letter of ["a", "b", "c"]) await think(session.id, letter.repeat(20_000))
    await think(session.id, "d".repeat(200_000))
    const pages = (await allPages({})).map((page) => page.map((text) => text[0]).join(""))
    expect(pages).toEqual(["a", "bc", "d"])
  })

  test("a session that fits is one page", async () => {
    const session = await start("short")
    await think(session.id, "only")
    expect((await load({ limit: 1 })).page).toMatchObject({ total: 1, olderCursor: null })
  })

  test("the next page is of the same session, although another became the newest meanwhile", async () => {
    const session = await start("reading")
    for (let step = 1; step <= 3; step++) await think(session.id, `step ${step}`)
    const cursor = (await load({ limit: 2 })).page.olderCursor!
    nowMs += 1
    await think((await start("newer")).id, "elsewhere")
    const { session: found, page } = await load({ cursor })
    expect(found.title).toBe("reading")
    expect(page.thoughts.map((thought) => thought.text)).toEqual(["step 1"])
  })

  test.each([[""], ["abc"], ["-1"], ["1.5"], ["999999"], ["9".repeat(40)]])(
    "the cursor %j, which no page returned, is refused by name",
    async (cursor) => {
      await start("any")
      await expect(load({ cursor })).rejects.toMatchObject({
        code: "bad_input",
        message: `cursor is not one that load_context returned: ${JSON.stringify(cursor)}`,
        data: { parameter: "cursor" },
      })
    },
  )

  test("a cursor of another session than the one named is refused", async () => {
    const [a, b] = [await start("a"), await start("b")]
    const { thought } = await think(a.id, "of a")
    await expect(load({ sessionId: b.id, cursor: String(thought.seq) })).rejects.toMatchObject({
      code: "bad_input",
      data: { parameter: "cursor" },
    })
  })
})

describe("what a caller chose last", () => {
  test("is its current session, started or loaded", async () => {
    const one = agent("one")
    const started = await module.recovery.startNew(one, {})
    expect((await module.recovery.boundSession(one))?.id).toBe(started.id)
    const other = await start("other")
    await load({ sessionId: other.id }, one)
    expect((await module.recovery.boundSession(one))?.id).toBe(other.id)
    expect(await module.recovery.boundSession(agent("two"))).toBeUndefined()
  })

  test("is its bound root, which the next session belongs to", async () => {
    const one = agent("one")
    expect(await module.recovery.bindRoot(one, folder("bound"))).toEqual({ uri: rootUri(folder("bound")), kept: true })
    expect((await module.recovery.startNew(one, {})).rootUri).toBe(rootUri(folder("bound")))
  })

  test("cannot be stored for a caller that cannot be distinguished", async () => {
    expect(await module.recovery.bindRoot({ surface: "mcp" }, folder("bound"))).toMatchObject({ kept: false })
    expect(await module.recovery.boundSession({ surface: "mcp" })).toBeUndefined()
  })
})

describe("two agents in one project", () => {
  const live = new Set<number>()
  let one: Caller
  let two: Caller
  beforeEach(() => {
    live.clear()
    ;[one, two] = [agent("claude-code:one"), agent("claude-code:two")]
  })
  const both = () =>
    makeSessions({
      store,
      clock: { nowMs: () => nowMs },
      homeDir: join(top, "home"),
      tempDir: join(top, "temp"),
      isAlive: (pid) => live.has(pid),
    })
  const runs = async (native: string, pid: number) => {
    const created = { platform: "claude-code", nativeId: native, projectId: null, title: native, tags: [], key: null }
    const { session } = await store.sessions.create({ id: `agent-${native}` as never, ...created, createdAtMs: nowMs })
    await store.runs.seen({ sessionId: session.id, host: "here", pid, pane: null, start: "startup", atMs: nowMs })
    live.add(pid)
  }
  const begin = async (caller: Caller, title: string) => {
    nowMs += 60_000
    return both().recovery.startNew(caller, { title })
  }

  test("each get their own session back, whichever is the newest", async () => {
    const [first, second] = [await begin(one, "of one"), await begin(two, "of two")]
    expect(await both().recovery.load(one, {})).toMatchObject({ session: { id: first.id }, by: "own" })
    expect(await both().recovery.load(two, {})).toMatchObject({ session: { id: second.id }, by: "own" })
    const { session } = await both().thinking.record(one, { thought: "mine", nextThoughtNeeded: false })
    expect(session.id).toBe(first.id)
  })

  test("of which one came back under another id: it gets what nobody else is at work in", async () => {
    const first = await begin(one, "of one")
    await begin(two, "of two")
    await runs("two", 2_000_002)
    const back = await both().recovery.load(agent("claude-code:back"), {})
    expect(back).toMatchObject({ session: { id: first.id }, by: "newest", isOthers: false })
  })

  test("a third that reads the only session does not write into it, unless it says so", async () => {
    const only = await begin(two, "of two")
    await runs("two", 2_000_002)
    const third = agent("claude-code:third")
    expect(await both().recovery.load(third, {})).toMatchObject({ session: { id: only.id }, isOthers: true })
    const { session, startedSession } = await both().thinking.record(third, { thought: "x", nextThoughtNeeded: false })
    expect(startedSession).toBe(true)
    expect(session.id).not.toBe(only.id)
    live.clear()
    expect(await both().recovery.load(agent("claude-code:fourth"), { sessionId: only.id })).toMatchObject({ by: "id" })
  })
})

test("on a full disk what was kept stays readable, although the choice cannot be noted", async () => {
  const { id } = await start("kept")
  const full = () => Promise.reject(new Failure("store_full", "the disk is full"))
  const onFullDisk = makeSessions({
    store: { ...store, bindings: { ...store.bindings, set: full } },
    clock: { nowMs: () => nowMs },
    homeDir: join(top, "home"),
    tempDir: join(top, "temp"),
  })
  expect(await onFullDisk.recovery.load(agent("fresh"), {})).toMatchObject({ session: { id } })
  expect(await onFullDisk.recovery.load(agent("fresh"), { sessionId: id })).toMatchObject({ session: { id } })
  await expect(onFullDisk.recovery.bindRoot(agent("fresh"), folder("app"))).rejects.toMatchObject({
    code: "store_full",
  })
})

describe("a new session", () => {
  test("without a title is named by its time", async () => {
    expect((await module.recovery.startNew(agent("one"), {})).title).toBe("Session of 2027-01-15 08:00")
  })

  test("started twice under one key is one session", async () => {
    const one = { ...agent("one"), idempotencyKey: "call 1" }
    const [first, again] = [
      await module.recovery.startNew(one, { title: "t" }),
      await module.recovery.startNew(one, {}),
    ]
    expect(again.id).toBe(first.id)
    expect(await store.journal.last()).toBe(1)
  })

  test("without any root can be found by its id", async () => {
    const session = await module.recovery.startNew({ surface: "mcp", key: "rootless" }, { title: "t", tags: ["x"] })
    expect(session).toMatchObject({ rootUri: null, tags: ["x"] })
    expect((await load({ sessionId: session.id })).otherRoot).toBe(true)
  })
})
