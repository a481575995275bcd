import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { runHook } from "../fixtures/hooks.ts"
import { connect } from "../fixtures/mcp.ts"

interface Loaded {
  message: string
  session: { title: string }
}
interface Kept {
  sessionId: string
}

/** Agents with hooks whose MCP server cannot identify their session: neither by its environment nor by its calls. */
const AGENTS = [
  {
    platform: "gemini-cli",
    name: "gemini-cli-mcp-client",
    begun: "SessionStart",
    prompted: "BeforeAgent",
    ended: "SessionEnd",
  },
  {
    platform: "opencode",
    name: "opencode",
    begun: "session.created",
    prompted: "chat.message",
    ended: "session.deleted",
  },
]

let home: TestHome
let cwd: string
let count = 0
beforeAll(async () => {
  home = makeHome()
  for (const { platform } of AGENTS) await home.json("setup", platform, "--yes")
  await home.run("start")
})
afterAll(() => home.dispose())
beforeEach(() => {
  cwd = join(home.env.HOME!, `lake-${count++}`)
  mkdirSync(cwd)
})

describe.each(AGENTS)("the server of $platform", ({ platform, name, begun, prompted, ended }) => {
  // This very process is the agent's: it runs the hooks, and starts the server.
  const hook = (event: string, session: string, more: object = {}) =>
    runHook(home, { hook_event_name: event, session_id: session, cwd, ...more }, { platform })
  const begin = (session: string, source = "startup") => hook(begun, session, { source })
  const server = () => connect(home, { cwd, name })
  const init = { operation: "load_context" }
  const thought = (text: string) => ({ thought: text, nextThoughtNeeded: true })
  const startNew = (title: string) => ({ operation: "start_new", title })
  const sessionOf = (who: string) => `${platform}-${cwd.split("-").at(-1)}-${who}`

  afterEach(async () => {
    for (const who of ["ONE", "TWO"]) await hook(ended, sessionOf(who))
  })

  test("a session that is resumed gets its own back, though another one's is newer", async () => {
    for (const who of ["ONE", "TWO"]) {
      await begin(sessionOf(who))
      const own = await server()
      await own.call("init", startNew(`of ${who}`))
      await own.call("thought", thought(`${who} thinks.`))
      await own.close()
    }
    await begin(sessionOf("ONE"), "resume")
    const again = await server()
    const { message, session } = await again.call<Loaded>("init", init)
    expect([session.title, message]).toEqual(["of ONE", expect.stringMatching(/^Your session/)])
    await again.close()
  })

  test("an agent beside one at work is not put into that one's session", async () => {
    await begin(sessionOf("ONE"))
    const one = await server()
    const { session } = await one.call<{ session: { id: string } }>("init", startNew("of ONE"))
    await one.call("thought", thought("ONE thinks."))
    // Another agent's process, unknown to hooks.
    const two = await connect(home, { cwd, name, behindShell: true })
    expect((await two.call<Loaded>("init", init)).message).toContain("Another agent is working in it")
    expect((await two.call<Kept>("thought", thought("TWO thinks."))).sessionId).not.toBe(session.id)
    await Promise.all([one.close(), two.close()])
  })

  test("a server stays with its session, whatever its agent does in others", async () => {
    await begin(sessionOf("ONE"))
    const one = await server()
    const first = await one.call<Kept>("thought", thought("before"))
    await begin(sessionOf("TWO"))
    await hook(prompted, sessionOf("TWO"))
    expect((await one.call<Kept>("thought", thought("after"))).sessionId).toBe(first.sessionId)
    await one.close()
  })

  test("a server that is older than its agent's hooks keeps its session", async () => {
    const one = await server()
    const first = await one.call<Kept>("thought", thought("before"))
    await begin(sessionOf("ONE"))
    expect((await one.call<Kept>("thought", thought("after"))).sessionId).toBe(first.sessionId)
    await one.close()
  })
})
