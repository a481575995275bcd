import { describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import { Failure } from "../domain/failure.ts"
import { operations } from "../operations/list.ts"
import { httpApp } from "./http.ts"

const TOKEN = "the token"
const OWNER_KEY = "the owner's key"

function app({ guarded = true } = {}) {
  const bugs: unknown[] = []
  const asked: unknown[][] = []
  const app = httpApp({
    operations,
    async call(name, input, caller) {
      asked.push([name, input, caller])
      if (name === "search") throw new Failure("store_busy", "busy")
      if (name === "status") throw new Error("a bug")
      return { ok: true }
    },
    mcp: { fetch: async () => Response.json({ mcp: true }), close: async () => {} },
    identity: { id: "1", version: "0", pid: 1 },
    feed: { last: async () => 0, after: async () => [], onWake: () => () => {} },
    ending: new AbortController().signal,
    onBug: (error) => bugs.push(error),
    ...(guarded ? { guard: { token: TOKEN, ownerKey: OWNER_KEY, hosts: ["127.0.0.1", "localhost", "[::1]"] } } : {}),
  })
  return { app, bugs, asked }
}

const good = { host: "127.0.0.1:4747", authorization: `Bearer ${TOKEN}`, "content-type": "application/json" }
const post = (headers: Record<string, string>, path = "/api/sessions.list", body = "{}", guarded = true) =>
  app({ guarded }).app.request(path, { method: "POST", headers, body })

describe(proves("http.token-needed"), () => {
  test.each([
    ["with the token", good, 200],
    ["by another name of this machine", { ...good, host: "localhost:4747" }, 200],
    ["from a local page", { ...good, origin: "http://localhost:5173" }, 200],
    ["without a token", { host: good.host }, 401],
    ["with a wrong token", { ...good, authorization: "Bearer the tokem" }, 401],
    ["with a part of the token", { ...good, authorization: "Bearer the" }, 401],
    ["with the token in another scheme", { ...good, authorization: `Basic ${TOKEN}` }, 401],
    ["by another host name, as in DNS rebinding", { ...good, host: "evil.example:4747" }, 403],
    ["from another site's page", { ...good, origin: "https://evil.example" }, 403],
    ["from a page without an origin of its own", { ...good, origin: "null" }, 403],
  ])("a call %s is answered %s", async (_, headers, status) => {
    for (const path of ["/api/sessions.list", "/mcp", "/health"])
      expect([path, (await post(headers, path)).status]).toEqual([path, status])
  })

  test("the answer says how to come in", async () => {
    const answer = await post({ host: good.host })
    expect(answer.headers.get("www-authenticate")).toBe("Bearer")
    expect(await answer.json()).toMatchObject({
      error: { code: "unauthorized", help: expect.stringContaining("token") },
    })
  })

  test("only the socket's owner can stop the daemon", async () => {
    expect((await post(good, "/stop")).status).toBe(404)
  })
})

describe("who is the owner over HTTP", () => {
  const claims = encodeURIComponent(JSON.stringify({ surface: "cli", isOwner: true, client: { name: "dashboard" } }))
  const callerOf = async (key: string) => {
    const { app: served, asked } = app()
    const headers = { ...good, authorization: `Bearer ${key}`, "throughline-caller": claims }
    await served.request("/api/sessions.list", { method: "POST", headers, body: "{}" })
    return asked[0]?.[2]
  }

  test("is told by the key, and not by what the caller says of itself", async () => {
    expect(await callerOf(TOKEN)).toMatchObject({ surface: "http", isOwner: false })
    expect(await callerOf(OWNER_KEY)).toMatchObject({ surface: "http", isOwner: true })
  })

  test("is nobody who speaks MCP: the owner's key is refused there", async () => {
    const answer = await post({ ...good, authorization: `Bearer ${OWNER_KEY}` }, "/mcp")
    expect([answer.status, await answer.json()]).toEqual([
      403,
      { error: expect.objectContaining({ code: "forbidden", message: expect.stringContaining("not for agents") }) },
    ])
  })
})

describe("a failure", () => {
  test("has the status of its code, and its code in the body", async () => {
    const answer = await post(good, "/api/search")
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ error: { code: "store_busy", message: "busy" } })
  })

  test("that nobody foresaw is a bug, and reported as one", async () => {
    const { app: served, bugs } = app()
    const answer = await served.request("/api/status", { method: "POST", headers: good, body: "{}" })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ error: { code: "internal" } })
    expect(bugs).toEqual([expect.objectContaining({ message: "a bug" })])
  })

  test.each([
    ["an unknown operation", "/api/nothing", "{}", 404, "unknown_operation"],
    ["an unknown place", "/elsewhere", "{}", 404, "unknown_operation"],
    ["a body that is not JSON", "/api/sessions.list", "{", 400, "bad_input"],
  ])("%s is named", async (_, path, body, status, code) => {
    const answer = await post(good, path, body)
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([status, code])
  })
})

test("on the socket, whose file mode is the guard, no token is needed and the caller's header is heard", async () => {
  const { app: served, asked } = app({ guarded: false })
  const caller = { surface: "cli", cwd: "/tmp/é" }
  const answer = await served.request("/api/sessions.list", {
    method: "POST",
    headers: { "throughline-caller": encodeURIComponent(JSON.stringify(caller)) },
    body: '{"limit":1}',
  })
  expect(answer.status).toBe(200)
  expect(asked).toEqual([["sessions.list", { limit: 1 }, caller]])
})
