import { once } from "node:events"
import { readdirSync, statSync } from "node:fs"
import { createServer, connect as openSocket } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { ask, makeHome, type TestHome, type WireRequest } from "../fixtures/daemon.ts"
import { connect } from "../fixtures/mcp.ts"

let home: TestHome
beforeAll(async () => {
  home = makeHome()
  await home.run("start")
})
afterAll(() => home.dispose())

const codeOf = (body: string) => (JSON.parse(body) as { error: { code: string } }).error.code
const status = (more: Partial<WireRequest> = {}) => ask(home, { path: "/api/status", body: "{}", ...more })

describe("who may call over HTTP", () => {
  test.each<[who: string, headers: Record<string, string>, code: string, status: number]>([
    ["without a token", { authorization: "" }, "unauthorized", 401],
    ["with a wrong token", { authorization: "Bearer nonsense" }, "unauthorized", 401],
    ["with a token of another kind", { authorization: "Basic bm9uc2Vuc2U=" }, "unauthorized", 401],
    ["for a foreign host", { host: "evil.example" }, "forbidden", 403],
    ["for a host that only begins like ours", { host: "localhost.evil.example" }, "forbidden", 403],
    ["from a foreign page", { origin: "https://evil.example" }, "forbidden", 403],
    ["from a sandboxed page", { origin: "null" }, "forbidden", 403],
  ])("not one %s", async (_, headers, code, expected) => {
    for (const path of ["/api/status", "/mcp", "/health", "/nonsense"]) {
      const answer = await ask(home, { path, body: "{}", headers })
      expect([answer.status, codeOf(answer.body)], path).toEqual([expected, code])
      expect(answer.headers["www-authenticate"]).toBe(expected === 401 ? "Bearer" : undefined)
    }
  })

  test.each<[string, Record<string, string>]>([
    ["by 127.0.0.1", {}],
    ["by name", { host: "LocalHost:4747" }],
    ["by IPv6", { host: "[::1]:4747" }],
    ["from a local page", { origin: "http://localhost:5173" }],
  ])("one with the token, %s", async (_, headers) => {
    const answer = await status({ headers })
    expect(answer.status).toBe(200)
    expect(answer.json().pid).toBe(home.registration().pid)
  })

  test("no other machine: the listener is bound to loopback only", async () => {
    const { hostname, port } = new URL(home.registration().url!)
    expect(hostname).toBe("127.0.0.1")
    // An address that a listener on every interface would answer at, too.
    const stranger = openSocket({ host: "127.0.0.2", port: Number(port), timeout: 2_000 })
    stranger.on("timeout", () => stranger.destroy(new Error("timeout")))
    await expect(once(stranger, "connect")).rejects.toThrow()
    stranger.destroy()
  })

  test("no request to stop the daemon over TCP", async () => {
    const answer = await ask(home, { path: "/stop", body: "{}" })
    expect([answer.status, codeOf(answer.body)]).toEqual([404, "unknown_operation"])
    expect((await status()).status).toBe(200)
  })

  test("no other user of this machine: every file is for its owner only", () => {
    const paths = readdirSync(home.dir, { recursive: true, encoding: "utf8" })
    expect(paths).toEqual(
      expect.arrayContaining(["token", "daemon.sock", "daemon.json", "throughline.db", "logs/throughline.log"]),
    )
    const open = paths.filter((path) => (statSync(join(home.dir, path)).mode & 0o077) !== 0)
    expect(open).toEqual([])
    expect(statSync(home.dir).mode & 0o777).toBe(0o700)
    expect(statSync(join(home.dir, "token")).mode & 0o777).toBe(0o600)
  })
})

describe("responses over HTTP", () => {
  test("an operation that does not exist", async () => {
    const answer = await ask(home, { path: "/api/nonsense", body: "{}" })
    expect(answer.status).toBe(404)
    expect(answer.json()).toEqual({
      error: {
        code: "unknown_operation",
        message: 'there is no operation "nonsense"',
        help: expect.any(String),
        data: { name: "nonsense" },
      },
    })
  })

  test("a page that does not exist", async () => {
    const answer = await ask(home, { path: "/nonsense", method: "GET" })
    expect([answer.status, codeOf(answer.body)]).toEqual([404, "unknown_operation"])
  })

  test("a body that is not JSON", async () => {
    const answer = await status({ body: "{nonsense" })
    expect([answer.status, codeOf(answer.body)]).toEqual([400, "bad_input"])
  })

  test.each(["null", "7", '"x"', "[]", "%7B"])("a caller that describes itself as %s", async (caller) => {
    const answer = await status({ headers: { "throughline-caller": caller } })
    expect([answer.status, codeOf(answer.body)]).toEqual([400, "bad_input"])
    const upgrade = { connection: "Upgrade", upgrade: "mcp", "throughline-caller": caller }
    expect((await ask(home, { path: "/mcp-stream", method: "GET", headers: upgrade, socket: true })).status).toBe(400)
    expect((await status()).status).toBe(200)
  })

  test.each(["/api/thought", "/mcp"])("a body of 40 MB at %s", async (path) => {
    const thought = "x".repeat(40 * 1024 * 1024)
    const input = { thought, nextThoughtNeeded: true }
    const body = JSON.stringify(
      path === "/mcp"
        ? { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "thought", arguments: input } }
        : input,
    )
    const answer = await ask(home, { path, body, headers: { accept: "application/json, text/event-stream" } })
    expect(answer.status).toBe(413)
    expect((await status()).status).toBe(200)
  })
})

describe("the MCP endpoint", () => {
  const accept = { accept: "application/json, text/event-stream" }
  const call = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }

  test("answers 404 for an unknown session, so that clients start a new one", async () => {
    const answer = await ask(home, {
      path: "/mcp",
      body: JSON.stringify(call),
      headers: { ...accept, "mcp-session-id": "nonsense" },
    })
    expect(answer.status).toBe(404)
    expect(answer.json()).toMatchObject({ jsonrpc: "2.0", error: { message: expect.stringContaining("initialize") } })
  })

  test("answers 405 for GET: a stream that is lost makes clients give the server up", async () => {
    const answer = await ask(home, { path: "/mcp", method: "GET", headers: { accept: "text/event-stream" } })
    expect([answer.status, answer.headers.allow]).toEqual([405, "POST, DELETE"])
  })

  test("drops a 2025 session that its client ended", async () => {
    const initialize = {
      ...call,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
    }
    const opened = await ask(home, { path: "/mcp", body: JSON.stringify(initialize), headers: accept })
    const headers = { ...accept, "mcp-session-id": String(opened.headers["mcp-session-id"]) }
    const list = () => ask(home, { path: "/mcp", body: JSON.stringify(call), headers })
    expect((await list()).status).toBe(200)
    expect((await ask(home, { path: "/mcp", method: "DELETE", headers })).status).toBe(200)
    expect((await list()).status).toBe(404)
  })
})

describe("where HTTP is served", () => {
  test("a taken port does not block access to sessions, and status and doctor report it", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    const port = String((other.address() as { port: number }).port)
    const crowded = makeHome({ THROUGHLINE_HTTP_PORT: port })
    onTestFinished(async () => {
      await crowded.dispose()
      other.close()
    })
    expect((await crowded.run("start")).stdout).toContain("http    off (see throughline doctor)")
    const { http } = await crowded.json<{ http: { url?: string; trouble: string } }>("status")
    expect(http).toEqual({ trouble: `port ${port} cannot be used (EADDRINUSE); set http.port` })
    expect((await crowded.run("status")).stdout).toContain(http.trouble)
    const doctor = await crowded.run("doctor")
    expect(doctor.stdout).toMatch(new RegExp(`warn +http +port ${port} cannot be used`))
    expect(doctor.stdout).toContain("Set http.port to a free port")
    const agent = await connect(crowded)
    expect(await agent.call("init", { operation: "start_new" })).toMatchObject({ success: true })
    await agent.close()
  })

  test("an address that others can reach is refused without TLS in front", async () => {
    const open = makeHome({ THROUGHLINE_HTTP_HOST: "0.0.0.0" })
    onTestFinished(() => open.dispose())
    const refused = await open.run("start", "--json")
    expect(refused.code).toBe(2)
    expect(JSON.parse(refused.stdout)).toMatchObject({
      error: {
        code: "config_invalid",
        message: expect.stringContaining('http.host = "0.0.0.0"'),
        data: { key: "http.host" },
      },
    })
    expect((await open.run("start", "--set", "http.behindTls=true")).code).toBe(0)
    expect((await ask(open, { path: "/api/status", body: "{}" })).status).toBe(200)
  })

  test("it can be switched off", async () => {
    const quiet = makeHome({ THROUGHLINE_HTTP_ENABLED: "false" })
    onTestFinished(() => quiet.dispose())
    await quiet.run("start")
    expect(quiet.registration().url).toBeUndefined()
    expect((await quiet.run("status")).stdout).toContain("http    off")
  })
})
