import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import type { McpClient } from "../fixtures/mcp.ts"
import { type Transcript, transcriptOf } from "../fixtures/transcript.ts"

interface Session {
  id: string
  title: string
  tags: string[]
  thoughtCount: number
  branchCount: number
  createdAt: string
  updatedAt: string
  mcpRootUri?: string
}
interface Answer {
  success: boolean
  message: string
  session?: Session
  sessions?: Session[]
  thoughts?: { thoughtNumber: number; thought: string }[]
  branches?: Record<string, { thought: string }[]>
  roots?: { uri: string; bound?: boolean }[]
}

/** Thoughtbox's own calls, one after another, as its users make them. */
describe("somebody who comes from Thoughtbox", () => {
  let home: TestHome
  let talk: Transcript
  let agent: McpClient
  let project: { path: string; uri: string }
  let first: Session
  let second: Session

  const folder = (name: string) => {
    const path = join(home.env.HOME!, name)
    mkdirSync(path, { recursive: true })
    return { path, uri: pathToFileURL(path).href }
  }
  const init = (operation: string, more: Record<string, unknown> = {}) =>
    agent.call<Answer>("init", { operation, ...more })
  /** What Claude Code does every 15 minutes: the next call comes over a new MCP session. */
  const reconnect = async () => {
    await agent.close()
    agent = await talk.agent("agent", { roots: [{ uri: project.uri, name: "my-project" }] })
  }
  beforeAll(async () => {
    home = makeHome()
    talk = transcriptOf("thoughtbox", home)
    project = folder("my-project")
    await talk.cli("start")
    agent = await talk.agent("agent", { roots: [{ uri: project.uri, name: "my-project" }] })
  })
  afterAll(async () => {
    await agent?.close()
    await home.dispose()
  })

  test("an unknown id fails without an error, with the same message", async () => {
    const missing = await init("load_context", { sessionId: "abc-123" })
    expect(missing).toMatchObject({ success: false, message: expect.stringMatching(/^Session abc-123 not found/) })
  })

  test("a project without sessions: load_context fails without an error and suggests start_new", async () => {
    talk.note("A project in which nothing was thought yet.")
    expect(await init("load_context")).toEqual({
      success: false,
      message: `No sessions found for project ${project.uri}. Use start_new to begin.`,
    })
  })

  test("list_roots returns the client's root with its name, and bind_root binds it for later calls", async () => {
    expect((await init("list_roots")).roots).toEqual([{ uri: project.uri, name: "my-project", bound: false }])
    const elsewhere = folder("elsewhere")
    expect((await init("bind_root", { mcpRootUri: elsewhere.uri })).roots).toEqual([
      { uri: elsewhere.uri, bound: true },
    ])
    expect((await init("start_new", { title: "There" })).session?.mcpRootUri).toBe(elsewhere.uri)
    expect((await init("load_context")).session).toMatchObject({ title: "There", mcpRootUri: elsewhere.uri })
    await init("bind_root", { mcpRootUri: project.uri })
  })

  test("start_new takes title, tags and mcpRootUri, and answers with the whole metadata of the session", async () => {
    talk.note("A session of reasoning, as before.")
    const answer = await init("start_new", { title: "Why is it slow", tags: ["perf"], mcpRootUri: project.uri })
    first = answer.session!
    expect(first).toMatchObject({
      id: expect.stringMatching(/^[\w-]{8,}$/),
      title: "Why is it slow",
      tags: ["perf"],
      thoughtCount: 0,
      branchCount: 0,
      mcpRootUri: project.uri,
    })
    for (const time of [first.createdAt, first.updatedAt]) expect(new Date(time).toISOString()).toBe(time)
  })

  test("a session without a title is named by the time of its start", async () => {
    const untitled = (await init("start_new")).session!
    expect(untitled.title).toMatch(/^Session of \d{4}-\d\d-\d\d \d\d:\d\d$/)
    await init("archive", { sessionId: untitled.id })
  })

  test("thoughts and branches are all there after a new MCP session, without naming an id", async () => {
    await init("load_context", { sessionId: first.id })
    for (let step = 1; step <= 3; step++)
      await agent.call("thought", {
        thought: `step ${step}`,
        thoughtNumber: step,
        totalThoughts: 3,
        nextThoughtNeeded: true,
      })
    await agent.call("thought", {
      thought: "or the disk",
      branchId: "disk",
      branchFromThought: 2,
      nextThoughtNeeded: true,
    })
    talk.note("The MCP session times out; the agent remembers no id.")
    await reconnect()
    const found = await init("load_context")
    expect(found).toMatchObject({ success: true, session: { id: first.id, thoughtCount: 4, branchCount: 1 } })
    expect(found.message).toMatch(/^Auto-recovered session \S+ "Why is it slow" \(4 thoughts, last updated .+\)/)
    expect(found.thoughts?.map(({ thought }) => thought)).toEqual(["step 1", "step 2", "step 3"])
    expect(found.branches?.disk?.map(({ thought }) => thought)).toEqual(["or the disk"])
    expect(Date.parse(found.session!.updatedAt)).toBeGreaterThan(Date.parse(found.session!.createdAt))
  })

  test("the daemon may be killed in between as well", async () => {
    await home.kill()
    await reconnect()
    expect((await init("load_context")).session?.id).toBe(first.id)
  })

  test("of several sessions of a root the one updated last is recovered", async () => {
    second = (await init("start_new", { title: "The second try" })).session!
    await reconnect()
    expect((await init("load_context")).session?.id).toBe(second.id)
  })

  test("list_sessions lists those of a root, newest first, and an explicit sessionId still works", async () => {
    const listed = await init("list_sessions", { mcpRootUri: project.uri })
    expect(listed.sessions?.map(({ id }) => id).slice(0, 2)).toEqual([second.id, first.id])
    const loaded = await init("load_context", { sessionId: first.id })
    expect(loaded.session?.id).toBe(first.id)
    expect(loaded.message).toMatch(/^Loaded session /)
  })

  test("a session of another root can be loaded by its id, and the answer names its root", async () => {
    const other = folder("another")
    const stranger = (await init("start_new", { title: "Elsewhere", mcpRootUri: other.uri })).session!
    const found = await init("load_context", { sessionId: stranger.id, mcpRootUri: project.uri })
    expect(found.session?.id).toBe(stranger.id)
    expect(found.message).toContain(`It belongs to another project: ${other.uri}.`)
  })

  test("Thoughtbox's planned features exist: pinning, archiving, linking to a second root, names", async () => {
    await reconnect()
    await init("pin", { sessionId: first.id })
    expect((await init("load_context")).session?.id).toBe(first.id)
    await init("unpin", { sessionId: first.id })
    expect((await init("rename", { sessionId: first.id, title: "Slow start" })).session?.title).toBe("Slow start")
    const wide = folder("wide")
    await init("link_root", { sessionId: first.id, mcpRootUri: wide.uri })
    expect((await init("load_context", { mcpRootUri: wide.uri })).session?.id).toBe(first.id)
    await init("archive", { sessionId: first.id })
    expect((await init("load_context", { mcpRootUri: wide.uri })).success).toBe(false)
    await init("unarchive", { sessionId: first.id })
    expect((await init("load_context", { mcpRootUri: wide.uri })).session?.id).toBe(first.id)
  })

  test.each([
    ["CLAUDE_PROJECT_DIR", (path: string) => ({ env: { CLAUDE_PROJECT_DIR: path } })],
    ["the folder of its process", (path: string) => ({ cwd: path })],
  ])("a client without roots is known by %s, and needs no id either", async (_, at) => {
    const here = folder(`rootless-${_.length}`)
    const writer = await talk.agent("rootless agent", at(here.path))
    const { session } = await writer.call<Answer>("init", { operation: "start_new", title: "Rootless" })
    await writer.close()
    const reader = await talk.agent("rootless agent", at(here.path))
    expect((await reader.call<Answer>("init", { operation: "load_context" })).session?.id).toBe(session!.id)
    await reader.close()
  })
})
