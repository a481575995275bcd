import { describe, expect, test } from "vitest"
import { proves } from "../../../test/promises.ts"
import { Failure } from "../../domain/failure.ts"
import { operations } from "../../operations/list.ts"
import { httpApp } from "./http.ts"
import { isProof, OWNER_HEADER, ownerProof, proofOf } from "./proof.ts"

const TOKEN = "the token"
const OWNER_KEY = "the owner's key"
const SESSION_KEY = "the key of this daemon's pages"
const ORIGIN = "http://127.0.0.1:4747"

const GUARD = {
  token: TOKEN,
  sessionKey: SESSION_KEY,
  ownerKey: OWNER_KEY,
  hosts: ["127.0.0.1", "localhost", "[::1]"],
  isOwnOrigin: (origin: string) => origin === ORIGIN,
}

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
    ...(guarded ? { guard: GUARD } : { ownerKey: OWNER_KEY }),
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
    expect(await callerOf(SESSION_KEY)).toMatchObject({ surface: "http", isOwner: true })
  })

  test("is nobody by the key of the file, which never goes over TCP", async () => {
    expect(await callerOf(OWNER_KEY)).toBeUndefined()
  })

  test("is nobody who speaks MCP: the owner's key is refused there", async () => {
    const answer = await post({ ...good, authorization: `Bearer ${SESSION_KEY}` }, "/mcp")
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

describe("on the socket, whose file mode is the guard", () => {
  const heard = async (caller: object, proof?: (request: { path: string; body: string }) => string) => {
    const { app: served, asked } = app({ guarded: false })
    const request = { path: "/api/sessions.list", body: '{"limit":1}' }
    const headers = {
      "throughline-caller": encodeURIComponent(JSON.stringify(caller)),
      ...(proof && { [OWNER_HEADER]: proof(request) }),
    }
    const answer = await served.request(request.path, { method: "POST", headers, body: request.body })
    return answer.status === 200 ? asked[0]?.[2] : answer.status
  }

  test("no token is needed, and the caller's header is heard", async () => {
    const caller = { surface: "cli", cwd: "/tmp/é" }
    expect(await heard(caller, (request) => ownerProof(OWNER_KEY, request, Date.now()))).toEqual(caller)
    const agent = { surface: "mcp", nativeSession: { platform: "codex", id: "n" }, projectDir: "/w" }
    expect(await heard(agent)).toEqual(agent)
  })

  test.each<[what: string, proof: ((request: { path: string; body: string }) => string) | undefined]>([
    ["without a proof", undefined],
    ["with a proof of another key", (request) => ownerProof("another", request, Date.now())],
    ["with a proof of the empty key", (request) => ownerProof("", request, Date.now())],
    ["with a proof for another operation", () => ownerProof(OWNER_KEY, { path: "/api/up", body: "{}" }, Date.now())],
    ["with a proof of an hour ago", (request) => ownerProof(OWNER_KEY, request, Date.now() - 3_600_000)],
    ["with the key itself", () => OWNER_KEY],
  ])("who says that a person typed it is no owner %s", async (_, proof) => {
    expect(await heard({ surface: "cli", cwd: "/" }, proof)).toEqual({ surface: "http", cwd: "/" })
  })

  test("the header can neither grant rights nor hold something else than texts", async () => {
    expect(await heard({ surface: "http", isOwner: true, isRemote: false, onProgress: 1, evil: {} })).toEqual({
      surface: "http",
    })
    for (const caller of [
      { surface: "local" },
      { surface: "mcp", nativeSession: "x" },
      { surface: "mcp", client: { name: { toString: 1 } } },
      { surface: "mcp", projectDir: ["/w"] },
      { surface: "mcp", key: "x".repeat(100_000) },
    ])
      expect(await heard(caller), JSON.stringify(caller).slice(0, 80)).toBe(400)
  })
})

describe("a page makes sure that it talks to Throughline before it sends its key", () => {
  const NONCE = "a nonce of the page"
  const hello = async (body: object, path = "/hello", key?: string) => {
    const headers = { ...good, authorization: key === undefined ? "" : `Bearer ${key}` }
    const answer = await app().app.request(path, { method: "POST", headers, body: JSON.stringify(body) })
    const said = (await answer.json()) as { proof?: string; answer?: string; renewal?: string; key?: string }
    return { status: answer.status, ...said }
  }

  test("by a proof that only the daemon which gave the key can make, and that names the page's address", async () => {
    const { proof } = await hello({ origin: ORIGIN, nonce: NONCE })
    expect(isProof(proof!, SESSION_KEY, "server", ORIGIN, NONCE)).toBe(true)
    expect(isProof(proof!, SESSION_KEY, "server", "http://127.0.0.1:4748", NONCE)).toBe(false)
    expect(isProof(proof!, OWNER_KEY, "server", ORIGIN, NONCE)).toBe(false)
  })

  test("a page that stays open gets the next daemon's key, and nobody else does", async () => {
    expect((await hello({}, "/hello/renewal", TOKEN)).status).toBe(403)
    expect((await hello({}, "/hello/renewal")).status).toBe(401)
    const { renewal, key } = await hello({}, "/hello/renewal", SESSION_KEY)
    const { answer, proof } = await hello({ origin: ORIGIN, nonce: NONCE, renewal })
    expect(isProof(proof!, key!, "server", ORIGIN, NONCE, answer!)).toBe(true)
    const renew = (more: object, with_ = key!) => {
      const asked = { origin: ORIGIN, nonce: NONCE, renewal, answer: answer!, ...more }
      const made = proofOf(with_, "page", asked.origin, asked.nonce, asked.answer)
      return hello({ proof: made, ...asked }, "/hello/renew")
    }
    expect(await renew({})).toEqual({ status: 200, key: SESSION_KEY })
    expect((await renew({}, "another key")).status).toBe(401)
    expect((await renew({ renewal: "another" })).status).toBe(401)
    expect((await renew({ nonce: "another nonce of the page" })).status).toBe(401)
    expect((await renew({ answer: `${Date.now()}.made-up-made-up` })).status).toBe(401)
    // What the daemon itself has said is no proof of a page.
    expect((await renew({ proof })).status).toBe(401)
    expect((await renew({ origin: "http://127.0.0.1:4748" })).status).toBe(403)
  })

  test("somebody on another port cannot relay what a page sends there", async () => {
    expect((await hello({ origin: "http://127.0.0.1:4748", nonce: NONCE })).status).toBe(403)
    expect((await hello({ origin: "http://localhost:4747", nonce: NONCE })).status).toBe(403)
  })

  test.each([
    [null],
    [[]],
    [{}],
    [{ origin: ORIGIN }],
    [{ origin: ORIGIN, nonce: "short" }],
    [{ origin: 1, nonce: NONCE }],
  ])("%j is no valid hello", async (body) => {
    expect((await hello(body as object)).status).toBe(400)
  })
})
