import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"

interface Answer {
  success: boolean
  message: string
  session?: Listed
  thoughts?: { thoughtNumber: number; thought: string }[]
  sessions?: Listed[]
  candidates?: Listed[]
  roots?: { uri: string; name?: string; sessions?: number }[]
  nextCursor?: string
}
interface Listed {
  id: string
  title: string
  tags: string[]
  domain?: string
  mcpRootUri?: string
  pinned: boolean
  archived: boolean
  thoughtCount: number
}

/** What Claude Code accepts from one call. */
const MOST_CHARS = 50_000

let home: TestHome
let agent: McpClient
let root: string
let tests = 0
beforeAll(async () => {
  home = makeHome()
  await home.run("start")
})
afterAll(() => home.dispose())
beforeEach(async () => {
  root = folder(`p${++tests}`)
  agent = await connect(home, { cwd: root })
  return () => agent.close()
})

function folder(name: string): string {
  const path = join(home.env.HOME!, name)
  mkdirSync(path)
  return path
}
const uriOf = (path: string) => pathToFileURL(path).href
const init = (operation: string, more: Record<string, unknown> = {}) =>
  agent.call<Answer>("init", { operation, ...more })
const start = async (title: string, more: Record<string, unknown> = {}) =>
  (await init("start_new", { title, ...more })).session!
const titles = (sessions: Listed[] | undefined) => sessions?.map((session) => session.title)

describe("init, parameter by parameter", () => {
  test("start_new keeps title, tags and root", async () => {
    const other = folder(`${tests}-other`)
    const session = await start("Named", { tags: ["x", "y"], mcpRootUri: other })
    expect(session).toMatchObject({ title: "Named", tags: ["x", "y"], mcpRootUri: uriOf(other) })
    expect((await init("start_new")).session).toMatchObject({ mcpRootUri: uriOf(root), tags: [] })
  })

  test("start_new keeps a domain: it is shown, and lists and searches can keep to it", async () => {
    const domain = `payments ${tests}`
    const paid = await start("Why charges fail", { domain })
    expect(paid.domain).toBe(domain)
    await agent.call("thought", { thought: "the lantern retries twice", nextThoughtNeeded: true })
    await start("Something else", { domain: "search" })
    await agent.call("thought", { thought: "the lantern has an index", nextThoughtNeeded: true })
    await start("Without one")
    expect((await init("load_context", { sessionId: paid.id })).session?.domain).toBe(domain)
    expect(titles((await init("list_sessions", { domain })).sessions)).toEqual(["Why charges fail"])
    expect(await agent.text("init", { operation: "list_sessions", domain })).toContain(`(domain ${domain}, 1 thought`)
    const found = async () =>
      (
        await agent.call<{ exchanges: { ai: string }[] }>("search_conversation_history", {
          query: "lantern",
          domain,
          n_results: 9,
        })
      ).exchanges.map(({ ai }) => ai)
    await expect.poll(found, { timeout: 60_000 }).toEqual(["the lantern retries twice"])
    const { stdout } = await home.run("sessions", "--domain", domain)
    expect(stdout).toContain(`Why charges fail (${domain})`)
    expect(stdout).not.toContain("Something else")
    const hits = await home.json<{ hits: { domain: string }[] }>("search", "lantern", "--domain", domain)
    expect(hits.hits.map((hit) => hit.domain)).toEqual([domain])
    expect((await home.run("sessions", "show", paid.id)).stdout).toContain(`domain ${domain}`)
    expect((await home.run("sessions", "export", paid.id)).stdout).toContain(`- Domain: ${domain}`)
    expect((await init("rename", { sessionId: paid.id, domain: "billing" })).session?.domain).toBe("billing")
    expect(await agent.refused("init", { operation: "start_new", domain: "x".repeat(101) })).toContain("domain")
  })

  test("list_sessions lists this project, another, or all, up to a limit", async () => {
    const other = folder(`${tests}-other`)
    await start("here 1")
    await start("here 2")
    await start("there", { mcpRootUri: other })
    expect(titles((await init("list_sessions")).sessions)).toEqual(["here 2", "here 1"])
    expect(titles((await init("list_sessions", { limit: 1 })).sessions)).toEqual(["here 2"])
    expect(titles((await init("list_sessions", { mcpRootUri: uriOf(other) })).sessions)).toEqual(["there"])
    const all = titles((await init("list_sessions", { mcpRootUri: "all", limit: 500 })).sessions)
    expect(all).toEqual(expect.arrayContaining(["here 1", "here 2", "there", "Named"]))
  })

  test("load_context takes a session by a beginning of its id, or the newest of another root", async () => {
    const other = folder(`${tests}-other`)
    const first = await start("first")
    await start("second")
    await start("elsewhere", { mcpRootUri: other })
    expect((await init("load_context")).session?.title).toBe("second")
    expect((await init("load_context", { sessionId: first.id.slice(0, 8) })).session?.id).toBe(first.id)
    expect((await init("load_context", { mcpRootUri: other })).session?.title).toBe("elsewhere")
    const foreign = await init("load_context", { sessionId: first.id, mcpRootUri: other })
    expect(foreign.message).toContain(`It belongs to another project: ${uriOf(root)}.`)
  })

  test("load_context names sessions that were active at the same time", async () => {
    await start("rival")
    await start("newest")
    const found = await init("load_context")
    expect(found.session?.title).toBe("newest")
    expect(titles(found.candidates)).toEqual(["rival"])
  })

  test("load_context says how many thoughts there are, and how long ago the session changed", async () => {
    const session = await start("Plan")
    for (const thought of ["one", "two"]) await agent.call("thought", { thought, nextThoughtNeeded: true })
    const recovered = `Auto-recovered session ${session.id} "Plan" (2 thoughts, last updated just now).`
    const stranger = await connect(home, { cwd: root })
    expect((await stranger.call<Answer>("init", { operation: "load_context" })).message).toBe(recovered)
    const page = await stranger.call<Answer>("init", { operation: "load_context", limit: 1 })
    expect(page.message).toContain(`${recovered} 1 thought on this page. Older thoughts: load_context with cursor`)
    await stranger.close()
  })

  test.each(["load_context", "rename", "pin", "unpin", "archive", "unarchive", "link_root"])(
    "%s answers an unknown id as any other miss",
    async (operation) => {
      const missing = await init(operation, { sessionId: "abc-123", title: "x", mcpRootUri: root })
      expect(missing).toEqual({
        success: false,
        message: "Session abc-123 not found. list_sessions shows the sessions there are.",
      })
    },
  )

  test("list_roots keeps the names that the client gives its roots", async () => {
    const [named, unnamed] = [folder(`${tests}-named`), folder(`${tests}-unnamed`)]
    const hostile = `\u001b[31mX\u202e\n${"y".repeat(200)}`
    const roots = [
      { uri: uriOf(named), name: "my-project" },
      { uri: uriOf(unnamed) },
      { uri: uriOf(root), name: hostile },
      { uri: uriOf(named), name: "another name of the same" },
    ]
    for (const era of ["legacy", "modern"] as const) {
      const client = await connect(home, { cwd: root, roots, era })
      const listed = await client.call<Answer>("init", { operation: "list_roots" })
      expect(listed.roots).toEqual([
        { uri: uriOf(named), name: "my-project", bound: false },
        { uri: uriOf(unnamed), bound: false },
        { uri: uriOf(root), name: `[31mX ${"y".repeat(93)}…`, bound: false },
      ])
      expect(listed.message).toContain(`my-project (${uriOf(named)}), ${uriOf(unnamed)}`)
      await client.close()
    }
  })

  test("a page ends early when its thoughts are long, and a cursor that is none is refused", async () => {
    await start("wordy")
    for (const letter of ["a", "b", "c"])
      await agent.call("thought", { thought: letter.repeat(40_000), nextThoughtNeeded: true })
    const page = await init("load_context")
    expect(page.thoughts!.map((thought) => thought.thought[0])).toEqual(["c"])
    const older = await init("load_context", { cursor: page.nextCursor! })
    expect(older.thoughts!.map((thought) => thought.thought[0])).toEqual(["b"])
    expect(await agent.refused("init", { operation: "load_context", cursor: "x" })).toMatch(/^bad_input: cursor /)
  })

  test("rename changes the title, the tags, of this session or the named one", async () => {
    const first = await start("first", { tags: ["kept"] })
    const second = await start("second")
    expect((await init("rename", { title: "renamed" })).session).toMatchObject({ id: second.id, title: "renamed" })
    const other = await init("rename", { sessionId: first.id, title: "one" })
    expect(other.session).toMatchObject({ id: first.id, title: "one", tags: ["kept"] })
    expect((await init("rename", { sessionId: first.id, tags: ["new"] })).session).toMatchObject({
      title: "one",
      tags: ["new"],
    })
    expect(await agent.refused("init", { operation: "rename" })).toMatch(/^bad_input: title is missing/)
  })

  test("pin makes a session the one that is recovered, unpin the newest again", async () => {
    const first = await start("first")
    await start("second")
    expect((await init("pin", { sessionId: first.id })).session?.pinned).toBe(true)
    expect((await init("load_context")).session?.id).toBe(first.id)
    expect((await init("unpin", { sessionId: first.id })).session?.pinned).toBe(false)
    expect((await init("load_context")).session?.title).toBe("second")
  })

  test("archive takes a session out of recovery, unarchive brings it back", async () => {
    await start("first")
    const second = await start("second")
    expect((await init("archive")).session).toMatchObject({ id: second.id, archived: true })
    expect((await init("load_context")).session?.title).toBe("first")
    expect((await init("load_context", { sessionId: second.id })).message).toContain("It is archived")
    expect((await init("unarchive", { sessionId: second.id })).session?.archived).toBe(false)
    expect((await init("load_context")).session?.id).toBe(second.id)
  })

  test("link_root lets another project recover the session too", async () => {
    const other = folder(`${tests}-other`)
    const session = await start("shared")
    expect((await init("load_context", { mcpRootUri: other })).success).toBe(false)
    await init("link_root", { sessionId: session.id, mcpRootUri: other })
    expect((await init("load_context", { mcpRootUri: other })).session?.id).toBe(session.id)
    expect((await init("load_context")).session?.id).toBe(session.id)
  })

  test("get_state and list_roots use the given root", async () => {
    const other = folder(`${tests}-other`)
    const { id } = await start("there", { mcpRootUri: other })
    expect((await init("get_state")).roots).toMatchObject([{ uri: uriOf(root), sessions: 0 }])
    const there = await init("get_state", { mcpRootUri: other })
    expect(there).toMatchObject({ session: { id }, roots: [{ uri: uriOf(other), sessions: 1 }] })
    expect((await init("list_roots")).roots).toMatchObject([{ uri: uriOf(root) }])
    expect((await init("list_roots", { mcpRootUri: other })).roots).toMatchObject([{ uri: uriOf(other) }])
  })

  test.each(["bind_root", "link_root"])("%s says that mcpRootUri is missing", async (operation) => {
    expect(await agent.refused("init", { operation, sessionId: (await start("x")).id })).toMatch(
      new RegExp(`^bad_input: mcpRootUri is missing: ${operation} needs it`),
    )
  })
})

describe("a session of 700 thoughts", () => {
  const COUNT = 700
  let id: string
  beforeAll(async () => {
    const writer = await connect(home, { transport: "http" })
    id = (await writer.call<Answer>("init", { operation: "start_new", title: "long" })).session!.id
    for (let number = 1; number <= COUNT; number++)
      await writer.call("thought", { thought: `step ${number}`, nextThoughtNeeded: true })
    await writer.close()
  })

  test.each([undefined, 300, 99])(
    "comes in pages, the newest first, and together they are all (limit %s)",
    async (limit) => {
      const seen: number[] = []
      let cursor: string | undefined
      do {
        const page: Answer = await init("load_context", {
          sessionId: id,
          ...(limit === undefined ? {} : { limit }),
          ...(cursor === undefined ? {} : { cursor }),
        })
        const numbers = page.thoughts!.map((thought) => thought.thoughtNumber)
        const newest = COUNT - seen.length
        expect(numbers.length).toBeLessThanOrEqual(limit ?? 500)
        expect(numbers.length).toBeGreaterThanOrEqual(Math.min(newest, limit ?? 200, 200))
        expect(numbers).toEqual(range(newest - numbers.length + 1, newest))
        expect(JSON.stringify(page).length).toBeLessThan(MOST_CHARS)
        seen.unshift(...numbers)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      expect(seen).toEqual(range(1, COUNT))
    },
  )
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
