import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { agentSetups as agents } from "../../agents/list.ts"
import type { SentHook } from "../../domain/hook.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { writeSpool } from "../read/spool.ts"
import { makeIntake } from "./intake.ts"

const NOW = 1_800_000_000_000
let dir: string
let store: Store
let nudged: string[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "intake-"))
  store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
  nudged = []
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

const intake = (on = store) =>
  makeIntake({
    store: on,
    // After all that is said here.
    clock: { nowMs: () => NOW + 2 * 86_400_000 },
    agents,
    host: "here",
    spoolDir: join(dir, "spool"),
    rules: {
      excluded: (path) => path.startsWith("/private"),
      projectOf: (path) => store.projects.ensure(`file://${path}`, NOW),
    },
    capturing: {
      nudge: async (path) => {
        nudged.push(path)
      },
    },
    onTrouble: () => {},
  })

let count = 0
const hook = (payload: object, more: Partial<SentHook> = {}): SentHook => ({
  platform: "claude-code",
  key: `k${count++}`,
  atMs: NOW + count,
  env: { PPID: "7" },
  body: JSON.stringify({ cwd: "/lake", ...payload }),
  ...more,
})
const start = (session_id: string, source: string, more: object = {}) =>
  hook({ hook_event_name: "SessionStart", session_id, source, ...more })
const end = (session_id: string, reason: string) => hook({ hook_event_name: "SessionEnd", session_id, reason })
const entries = async (kind = "hook.received") =>
  (await store.journal.after(0, 1000)).filter((entry) => entry.kind === kind)
const lineage = async (nativeId: string) => {
  const session = await store.sessions.byNative("claude-code", nativeId)
  return (await store.sessions.edges(session!.id)).map(({ kind, parentNativeId }) => `${kind} ${parentNativeId}`)
}

describe("an event", () => {
  test("is in the journal with its names, and without what was said", async () => {
    const payload = {
      hook_event_name: "UserPromptSubmit",
      session_id: "s1",
      transcript_path: "/t/s1.jsonl",
      prompt: "my secret plan",
    }
    const env = { PPID: "7", TMUX: "/tmp/tmux-0/default,1,0", TMUX_PANE: "%3" }
    await intake().receive(hook(payload, { env, atMs: NOW + 5 }))
    const [entry] = await entries()
    const session = await store.sessions.byNative("claude-code", "s1")
    expect(entry).toMatchObject({
      atMs: NOW + 5,
      sessionId: session?.id,
      projectId: session?.projectId,
      data: {
        platform: "claude-code",
        event: "UserPromptSubmit",
        session: "s1",
        cwd: "/lake",
        transcript: "/t/s1.jsonl",
        pid: 7,
        env,
      },
    })
    expect(JSON.stringify(entry)).not.toContain("secret")
    expect(session).toMatchObject({ rootUri: "file:///lake", projectPath: "/lake" })
    expect(await store.runs.ofSession(session!.id)).toMatchObject([
      { host: "here", pid: 7, pane: "/tmp/tmux-0/default %3", start: "", seenAtMs: NOW + 5 },
    ])
    expect(nudged).toEqual(["/t/s1.jsonl"])
  })

  test("that states a later time than now is kept with the time it came", async () => {
    await intake().receive(hook({ hook_event_name: "Stop", session_id: "s" }, { atMs: NOW + 90 * 86_400_000 }))
    expect((await entries())[0]!.atMs).toBe(NOW + 2 * 86_400_000)
    const [session] = await store.sessions.list({})
    expect(session!.updatedAtMs).toBe(NOW + 2 * 86_400_000)
  })

  test("that comes twice is kept once", async () => {
    const once = start("s1", "startup")
    const { receive } = intake()
    await Promise.all([receive(once), receive(once)])
    await intake().receive(once)
    expect(await entries()).toHaveLength(1)
    expect(await entries("session.started")).toHaveLength(1)
  })

  test("keeps the project that the session has", async () => {
    const { receive } = intake()
    await receive(start("s1", "startup"))
    await receive(hook({ hook_event_name: "Stop", session_id: "s1", cwd: "/lake/below" }))
    expect(await store.sessions.byNative("claude-code", "s1")).toMatchObject({ projectPath: "/lake" })
  })

  test.each(["not json", "[]", "null", '"x"', "{}"])("that says %s is kept as one without a name", async (body) => {
    await intake().receive(hook({}, { body }))
    expect(await entries()).toMatchObject([{ sessionId: null, data: { platform: "claude-code", event: "" } }])
  })

  test("of a folder that is left out, of a forgotten session, or of an agent that is not known, is not kept", async () => {
    const { receive } = intake()
    await receive(start("s1", "startup", { cwd: "/private/x" }))
    await receive(hook({ session_id: "s2" }, { platform: "emacs" }))
    await receive(start("s3", "startup"))
    expect(await entries()).toHaveLength(1)
    await store.forgetting.session((await store.sessions.byNative("claude-code", "s3"))!.id, NOW)
    await receive(hook({ hook_event_name: "Stop", session_id: "s3" }))
    expect(await entries()).toEqual([])
    for (const id of ["s1", "s3"]) expect(await store.sessions.byNative("claude-code", id)).toBeUndefined()
  })
})

describe("where a session comes from", () => {
  test("a cleared one comes from the one that its process ran before", async () => {
    const { receive } = intake()
    for (const sent of [
      start("a", "startup"),
      end("a", "clear"),
      start("b", "clear"),
      end("b", "clear"),
      start("c", "clear"),
    ])
      await receive(sent)
    expect([await lineage("a"), await lineage("b"), await lineage("c")]).toEqual([[], ["clear a"], ["clear b"]])
    expect(await entries("session.edge")).toMatchObject([
      { data: { edge: "clear", parent: "a" } },
      { data: { edge: "clear", parent: "b" } },
    ])
  })

  test("not from one that ended long ago in a process of the same number", async () => {
    const { receive } = intake()
    for (const sent of [start("a", "startup"), end("a", "other")]) await receive(sent)
    await receive({ ...start("b", "clear"), atMs: NOW + 86_400_000 })
    expect(await lineage("b")).toEqual([])
  })

  test("a session that goes on under its own id has no edge", async () => {
    const { receive } = intake()
    for (const source of ["startup", "compact", "resume", "clear"]) await receive(start("a", source))
    expect(await lineage("a")).toEqual([])
  })

  test("resuming another session in the same process makes no edge; branching off does", async () => {
    const { receive } = intake()
    for (const sent of [start("a", "startup"), end("a", "resume"), start("b", "resume")]) await receive(sent)
    expect(await lineage("b")).toEqual([])
    for (const sent of [end("b", "resume"), start("c", "fork")]) await receive(sent)
    expect(await lineage("c")).toEqual(["fork b"])
  })

  test("not from another project, nor from another process in the pane that ended otherwise", async () => {
    const inPane = (sent: SentHook, pid: string): SentHook => ({ ...sent, env: { PPID: pid, TMUX_PANE: "%1" } })
    const { receive } = intake()
    await receive(start("a", "startup"))
    await receive(start("b", "clear", { cwd: "/river" }))
    expect(await lineage("b")).toEqual([])
    await receive(inPane(start("c", "startup"), "20"))
    await receive(inPane(end("c", "prompt_input_exit"), "20"))
    await receive(inPane(start("d", "clear"), "21"))
    expect(await lineage("d")).toEqual([])
    await receive(inPane(end("d", "clear"), "22"))
    await receive(inPane(start("e", "clear"), "23"))
    expect(await lineage("e")).toEqual(["clear d"])
  })
})

describe("the spool", () => {
  const names = () => readdirSync(join(dir, "spool")).sort()
  const spooled = (payload: object, atNs: bigint, key = `k${atNs}`) =>
    writeSpool(join(dir, "spool"), {
      platform: "claude-code",
      headers: { "throughline-key": key, "throughline-at": String(atNs), "throughline-env-PPID": "7" },
      body: JSON.stringify(payload),
      atNs,
    })
  const at = (ms: number, ns = 0) => BigInt(ms) * 1_000_000n + BigInt(ns)
  const events = async () => (await entries()).map(({ data }) => data.event)

  test("comes before what is said now, in the order of its names", async () => {
    await spooled({ hook_event_name: "second", session_id: "s" }, at(NOW, 2))
    await spooled({ hook_event_name: "first", session_id: "s" }, at(NOW, 1))
    await intake().receive(hook({ hook_event_name: "third", session_id: "s" }))
    expect(await events()).toEqual(["first", "second", "third"])
    expect(names()).toEqual([])
    expect((await entries())[0]!.atMs).toBe(NOW)
  })

  test("what came by the socket too is kept once", async () => {
    const sent = hook({ hook_event_name: "once", session_id: "s" })
    await spooled({ hook_event_name: "once", session_id: "s" }, at(NOW), sent.key)
    await intake().receive(sent)
    expect(await events()).toEqual(["once"])
  })

  test("a file stays until its event is kept, and is kept once though it is taken again", async () => {
    await spooled({ hook_event_name: "one", session_id: "s" }, at(NOW))
    const failing: Store = {
      ...store,
      transaction: async (work) => {
        await store.transaction(work)
        throw new Error("killed after the commit")
      },
    }
    await expect(intake(failing).receive(hook({ hook_event_name: "now" }))).rejects.toThrow("killed")
    expect(names()).toHaveLength(1)
    await intake().receive(hook({ hook_event_name: "later" }))
    expect(await events()).toEqual(["one", "later"])
    expect(names()).toEqual([])
  })

  test("half-written files wait, and invalid files are set aside", async () => {
    mkdirSync(join(dir, "spool"))
    writeFileSync(join(dir, "spool", ".1-1"), "throughline-hook 1\nplat")
    writeFileSync(join(dir, "spool", "2-1.hook"), "something else")
    writeFileSync(join(dir, "spool", "notes.txt"), "mine")
    await intake().receive(hook({ hook_event_name: "now" }))
    expect(await events()).toEqual(["now"])
    expect(names()).toEqual([".1-1", "2-1.hook.unreadable", "notes.txt"])
  })

  test("is processed automatically", async () => {
    const stopping = new AbortController()
    const running = intake().run(stopping.signal)
    await spooled({ hook_event_name: "later", session_id: "s" }, at(NOW))
    await expect.poll(events, { timeout: 60_000 }).toEqual(["later"])
    stopping.abort()
    await running
  })
})

test("a session that runs and has said nothing is kept like one that has, and its first hook makes no second one", async () => {
  const met = { platform: "codex", nativeId: "quiet", cwd: "/lake" }
  expect(await intake().meet(met)).toBe(true)
  const session = await store.sessions.byNative("codex", "quiet")
  expect(session).toMatchObject({ projectPath: "/lake", title: "Untitled" })
  expect(session?.projectId).toBeTruthy()
  await intake().receive(
    hook({ hook_event_name: "SessionStart", session_id: "quiet", source: "startup" }, { platform: "codex" }),
  )
  expect(await entries("session.started")).toHaveLength(1)
  expect(await intake().meet({ ...met, nativeId: "hidden", cwd: "/private/x" })).toBe(false)
  expect(await intake().meet({ ...met, nativeId: "foreign", platform: "nobody" })).toBe(false)
  await store.forgetting.session(session!.id, NOW)
  expect(await intake().meet(met)).toBe(false)
  expect(await store.sessions.byNative("codex", "quiet")).toBeUndefined()
})
