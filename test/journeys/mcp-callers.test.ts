import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"

interface State {
  message: string
  session?: { id: string; title: string }
  roots: { uri: string; bound?: boolean }[]
}
interface Kept {
  sessionId: string
  thoughtNumber: number
  thoughtCount: number
}

let home: TestHome
beforeAll(async () => {
  home = makeHome()
  await home.run("start")
})
afterAll(() => home.dispose())

function folder(name: string): { path: string; uri: string } {
  const path = join(home.env.HOME!, name)
  mkdirSync(path, { recursive: true })
  return { path, uri: pathToFileURL(path).href }
}
const thought = (text: string) => ({ thought: text, nextThoughtNeeded: true })
const getState = { operation: "get_state" }

describe("where an agent stands", () => {
  test("a client that never answers roots/list costs about two seconds once; then its folder counts", async () => {
    const { path, uri } = folder("mute")
    const agent = await connect(home, { mute: true, cwd: path })
    const begun = performance.now()
    expect((await agent.call<State>("init", getState)).roots[0]?.uri).toBe(uri)
    const first = performance.now() - begun
    expect((await agent.call<State>("init", getState)).roots[0]?.uri).toBe(uri)
    const second = performance.now() - begun - first
    expect(first).toBeGreaterThan(1_500)
    expect(first).toBeLessThan(2_800)
    expect(second).toBeLessThan(500)
    await agent.close()
  })

  test.each(["stdio", "http"] as const)("changed roots are requested again, over %s", async (transport) => {
    const [before, after] = [folder(`before-${transport}`), folder(`after-${transport}`)]
    const roots = [before.uri]
    const agent = await connect(home, { transport, roots })
    expect((await agent.call<State>("init", getState)).roots[0]?.uri).toBe(before.uri)
    roots[0] = after.uri
    expect((await agent.call<State>("init", getState)).roots[0]?.uri).toBe(before.uri)
    await agent.client.sendRootsListChanged()
    expect((await agent.call<State>("init", getState)).roots[0]?.uri).toBe(after.uri)
    await agent.close()
  })

  test("a client without roots binds one, and it holds for the connection", async () => {
    const { path, uri } = folder("bound")
    const before = await connect(home, { cwd: path })
    await before.call("init", { operation: "start_new", title: "of the bound folder" })
    await before.close()
    const agent = await connect(home, { transport: "http" })
    const lost = await agent.call<State & { success: boolean }>("init", { operation: "load_context" })
    expect(lost).toMatchObject({ success: false, message: expect.stringContaining("bind_root") })
    await agent.call("init", { operation: "bind_root", mcpRootUri: path })
    expect((await agent.call<State>("init", { operation: "load_context" })).session?.title).toBe("of the bound folder")
    expect((await agent.call<State>("init", { operation: "list_roots" })).roots).toEqual([{ uri, bound: true }])
    const state = await agent.call<State>("init", getState)
    expect(state.message).toContain("(bound), 1 session. Current session: of the bound folder.")
    await agent.close()
  })
})

describe("a client that named no root and was started where no project is", () => {
  interface Answer extends State {
    success: boolean
    sessions?: unknown[]
    thoughts?: { thought: string }[]
  }
  const WARNING = /Warning: this client named no root and was started in .+ Call init bind_root with mcpRootUri set to/
  const init = (agent: McpClient, operation: string, more = {}) => agent.call<Answer>("init", { operation, ...more })

  test.each([
    ["/", "legacy"],
    ["/", "modern"],
    ["the home folder", "legacy"],
    ["the home folder", "modern"],
  ] as const)("in %s (%s), is warned, and has its sessions for itself", async (where, era) => {
    const cwd = where === "/" ? "/" : home.env.HOME!
    const [one, other] = [await connect(home, { cwd, era }), await connect(home, { cwd, era })]
    const begun = await init(one, "start_new", { title: "of one" })
    expect(begun.message).toMatch(WARNING)
    expect(begun.message).toContain(`started in ${cwd},`)
    expect(begun.session).not.toHaveProperty("mcpRootUri")
    await one.call("thought", thought("only mine"))

    for (const operation of ["load_context", "list_sessions"]) {
      const missed = await init(other, operation)
      expect([missed.success, missed.message]).toEqual([false, expect.stringMatching(WARNING)])
    }
    for (const operation of ["get_state", "list_roots"]) {
      const seen = await init(other, operation)
      expect([seen.roots, seen.session, seen.message]).toEqual([[], undefined, expect.stringMatching(WARNING)])
    }
    const kept = await other.call<Kept & { message: string }>("thought", thought("of the other"))
    expect([kept.thoughtNumber, kept.message]).toEqual([1, expect.stringMatching(WARNING)])
    expect(kept.sessionId).not.toBe(begun.session!.id)
    expect(await other.refused("task_state", { operation: "save", current_task: "x" })).toMatch(/^root_unknown: /)

    await home.kill()
    const own = await init(one, "load_context")
    expect(own.session?.id).toBe(begun.session!.id)
    expect(own.thoughts?.map((each) => each.thought)).toEqual(["only mine"])
    expect(own.message).toMatch(/^Your session .+\(1 thought, last updated just now\)\. Warning: /)

    const project = folder(`bound-${where.length}-${era}`)
    const bound = await init(other, "bind_root", { mcpRootUri: project.path })
    expect(bound.message).toMatch(/^Bound to .+ Session "of the other" belongs to no project yet: link_root puts it/)
    await init(other, "link_root", { mcpRootUri: project.path })
    expect((await init(other, "load_context")).session?.id).toBe(kept.sessionId)
    const placed = await init(other, "start_new")
    expect(placed.message).toContain(`Project ${project.uri}.`)
    await Promise.all([one.close(), other.close()])
  })

  test("counts as placed by its roots or by the agent's environment", async () => {
    const { path, uri } = folder("named")
    for (const options of [{ roots: [uri] }, { env: { CLAUDE_PROJECT_DIR: path } }]) {
      const agent = await connect(home, { cwd: "/", ...options })
      expect((await init(agent, "get_state")).roots).toMatchObject([{ uri }])
      await agent.close()
    }
  })
})

describe("which session an agent continues", () => {
  test("Codex's threadId gives each thread its own, also over a new connection", async () => {
    const agent = await connect(home)
    const first = await agent.call<Kept>("thought", thought("one"), { threadId: "t1", callId: "t1-1" })
    const other = await agent.call<Kept>("thought", thought("two"), { threadId: "t2", callId: "t2-1" })
    expect(other.sessionId).not.toBe(first.sessionId)
    await agent.close()
    const again = await connect(home, { transport: "http", era: "modern" })
    const next = await again.call<Kept>("thought", thought("three"), { threadId: "t1", callId: "t1-2" })
    expect(next).toMatchObject({ sessionId: first.sessionId, thoughtNumber: 2 })
    await again.close()
  })

  test("the same callId in two of Codex's threads is two calls", async () => {
    const agent = await connect(home)
    const first = await agent.call<Kept>("thought", thought("mine"), { threadId: "a", callId: "call_1" })
    const other = await agent.call<Kept>("thought", thought("yours"), { threadId: "b", callId: "call_1" })
    expect(first.sessionId).not.toBe(other.sessionId)
    const loaded = await agent.call<{ thoughts: { thought: string }[] }>("init", {
      operation: "load_context",
      sessionId: other.sessionId,
    })
    expect(loaded.thoughts.map((kept) => kept.thought)).toEqual(["yours"])
    await agent.close()
  })

  test("two processes of one Claude Code session share it; another session has its own", async () => {
    const { path } = folder("claude")
    const as = (id: string) => connect(home, { cwd: path, env: { CLAUDE_CODE_SESSION_ID: id } })
    const [one, two, stranger] = await Promise.all([as("s-1"), as("s-1"), as("s-2")])
    const first = await one.call<Kept>("thought", thought("begins"))
    const second = await two.call<Kept>("thought", thought("goes on"))
    const strange = await stranger.call<Kept>("thought", thought("elsewhere"))
    expect(second).toMatchObject({ sessionId: first.sessionId, thoughtNumber: 2 })
    expect(strange.sessionId).not.toBe(first.sessionId)
    await Promise.all([one.close(), two.close(), stranger.close()])
  })

  test("a 2026 HTTP client that cannot be identified is told to name the session", async () => {
    const agent = await connect(home, { transport: "http", era: "modern" })
    const refusal = await agent.refused("thought", thought("whose?"))
    expect(refusal).toMatch(/^session_needed: .*needs a sessionId/)
    expect(refusal).toContain("Call init with start_new or load_context and pass the sessionId it returns")
    const { session } = await agent.call<State>("init", { operation: "start_new" })
    const kept = await agent.call<Kept>("thought", { ...thought("mine"), sessionId: session!.id })
    expect(kept.sessionId).toBe(session!.id)
    const bound = await agent.call<State>("init", { operation: "bind_root", mcpRootUri: folder("keyless").path })
    expect(bound.message).toContain("pass mcpRootUri with each call")
    await agent.close()
  })
})

describe("a call that is made again", () => {
  test.each(["stdio", "http"] as const)("under the same toolUseId is stored once, over %s", async (transport) => {
    const { path, uri } = folder(`again-${transport}`)
    const meta = { "claudecode/toolUseId": `toolu_${transport}` }
    const agent = await connect(home, { transport, cwd: path, roots: [uri] })
    await agent.call("thought", thought("before"))
    const first = await agent.call<Kept>("thought", thought("once"), meta)
    const second = await agent.call<Kept>("thought", thought("once"), meta)
    expect(first).toMatchObject({ thoughtNumber: 2, thoughtCount: 2 })
    expect(second).toEqual(first)
    const anew = await connect(home, { transport, cwd: path, roots: [uri] })
    const third = await anew.call<Kept>("thought", { ...thought("once"), sessionId: first.sessionId }, meta)
    expect(third).toEqual(first)
    await Promise.all([agent.close(), anew.close()])
  })

  test("starts no second session when the first thought of all comes twice", async () => {
    const { path, uri } = folder("first")
    const meta = { "claudecode/toolUseId": "toolu_first" }
    const [one, two] = await Promise.all([connect(home, { cwd: path }), connect(home, { cwd: path })])
    const [a, b] = await Promise.all([
      one.call<Kept>("thought", thought("first"), meta),
      two.call<Kept>("thought", thought("first"), meta),
    ])
    expect(b.sessionId).toBe(a.sessionId)
    const { sessions } = await one.call<{ sessions: { thoughtCount: number }[] }>("init", {
      operation: "list_sessions",
      mcpRootUri: uri,
    })
    expect(sessions).toMatchObject([{ thoughtCount: 1 }])
    await Promise.all([one.close(), two.close()])
  })
})
