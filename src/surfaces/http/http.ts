import { createHash, timingSafeEqual } from "node:crypto"
import { type Context, Hono, type MiddlewareHandler } from "hono"
import { bodyLimit } from "hono/body-limit"
import { isOwner } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { ASK_PATH, type AskStep, HOOK_PATH, type SentHook, sentHook, WAIT_PATH } from "../../domain/hook.ts"
import { newKey } from "../../domain/ids.ts"
import type { Call } from "../../operations/invoke.ts"
import type { Operation } from "../../operations/operation.ts"
import type { McpHttp } from "../mcp/mcp-http.ts"
import { callerFrom } from "./caller-header.ts"
import { CALLER_HEADER, MAX_BODY_BYTES } from "./client.ts"
import { eventStream, type Feed } from "./events.ts"
import { isOwnerProof, OWNER_HEADER } from "./proof.ts"
import { newRenewal, type SignInKeys, signIn } from "./sign-in.ts"
import { webPages } from "./web.ts"

declare module "hono" {
  interface ContextVariableMap {
    /** Whether the call has the key of a signed-in page. */
    isOwner: boolean
  }
}

export interface HttpOptions {
  operations: readonly Operation[]
  call: Call
  mcp: McpHttp
  identity: { id: string; version: string; pid: number }
  /** Called for errors outside operations, which are bugs. */
  onBug(error: unknown, operation: string): void
  /** Absent on the unix socket, whose file mode is the guard. */
  guard?: SignInKeys & { token: string; hosts: readonly string[] }
  /** On the unix socket: the key that owner commands prove. */
  ownerKey?: string
  /** Events for open pages; ends with the signal. */
  feed: Feed
  ending: AbortSignal
  /** The dashboard's files; absent if it is not served. */
  webDir?: string
  /** Stops the daemon; on the socket only. */
  onStop?(): void
  /** Agents' hooks, on the socket only. Answered once the event is stored, with the text to print. */
  onHook?(sent: SentHook, signal: AbortSignal): Promise<string | undefined>
  /** A long poll: a text that wakes the agent, null to stop, undefined to poll again. */
  onWait?(sent: SentHook, signal: AbortSignal): Promise<string | null | undefined>
  /** An approval request: the decision, null if there will be none, undefined to wait for it. */
  onAsk?(sent: SentHook, step: AskStep, signal: AbortSignal): Promise<string | null | undefined>
}

export function httpApp(options: HttpOptions): Hono {
  const { operations, call, mcp, identity, onBug, guard, feed, ending, webDir } = options
  const { onStop, onHook, onWait, onAsk } = options
  const app = new Hono()
  const offered = new Set(
    operations.filter((op) => op.on.includes("http") || op.on.includes("cli")).map((op) => op.name),
  )
  app.onError((error, c) => {
    if (!(error instanceof Failure)) onBug(error, c.req.path)
    const failure = Failure.from(error)
    return c.json({ error: failure.toJSON() }, failure.kind.http as 500)
  })
  app.notFound((c) =>
    c.json({ error: new Failure("unknown_operation", `nothing answers at ${c.req.path}`).toJSON() }, 404),
  )
  if (guard) app.use(localOnly(guard.hosts))
  if (webDir !== undefined) app.use(webPages(webDir))
  const limit = bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: () => {
      throw new Failure("too_large", `a request may contain at most ${MAX_BODY_BYTES / 1024 / 1024} MB`)
    },
  })
  if (guard) {
    app.route("/", signIn(guard))
    app.use(bearer(guard))
    app.post("/hello/renewal", (c) => {
      if (!c.get("isOwner")) throw new Failure("forbidden", "only a page that has signed in can renew its key")
      return c.json(newRenewal(guard))
    })
  }

  app.all("/health", (c) => c.json(identity))
  if (onStop) {
    app.post("/stop", (c) => {
      setImmediate(onStop)
      return c.json({ stopping: true })
    })
  }
  if (onHook) {
    app.post(`${HOOK_PATH}/:platform`, limit, async (c) => {
      const reply = await onHook(await hookIn(c), c.req.raw.signal)
      return reply === undefined ? c.body(null, 204) : c.text(reply)
    })
  }
  if (onWait) {
    app.post(`${WAIT_PATH}/:platform`, limit, async (c) => {
      const reply = await onWait(await hookIn(c), c.req.raw.signal)
      return typeof reply === "string" ? c.text(reply) : c.body(null, reply === null ? 204 : 202)
    })
  }
  if (onAsk) {
    app.post(`${ASK_PATH}/:platform`, limit, async (c) => {
      const step = (["held", "taken"] as const).find((name) => c.req.query(name) !== undefined) ?? "ask"
      const reply = await onAsk(await hookIn(c), step, c.req.raw.signal)
      return typeof reply === "string" ? c.text(reply) : c.body(null, reply === null ? 204 : 202)
    })
  }
  app.post("/api/:name", limit, async (c) => {
    const name = c.req.param("name")
    if (!offered.has(name))
      throw new Failure("unknown_operation", `there is no operation ${JSON.stringify(name)}`, { name })
    const body = await c.req.text()
    const input = parseBody(body)
    const said = callerFrom(c.req.header(CALLER_HEADER))
    if (guard)
      return c.json(await call(name, input, { ...said, surface: "http", isOwner: c.get("isOwner"), isRemote: true }))
    const isProved = isOwnerProof(c.req.header(OWNER_HEADER), options.ownerKey, { path: c.req.path, body }, Date.now())
    return c.json(await call(name, input, isProved || !isOwner(said) ? said : { ...said, surface: "http" }))
  })
  app.get("/events", eventStream(feed, ending))
  app.all("/mcp", (c) => {
    // An agent with this key could act as the owner.
    if (c.get("isOwner")) throw new Failure("forbidden", "the dashboard's key is not for agents: they use the token")
    return mcp.fetch(c.req.raw)
  })
  return app
}

function parseBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch (error) {
    throw new Failure("bad_input", "the body is not JSON", {}, { cause: error })
  }
}

async function hookIn(c: Context): Promise<SentHook> {
  // Header values are bytes; these were written as UTF-8.
  const headers = [...c.req.raw.headers].map(([name, value]): [string, string] => [
    name,
    Buffer.from(value, "latin1").toString("utf8"),
  ])
  return sentHook(c.req.param("platform") ?? "", headers, await c.req.text(), { key: newKey(), atMs: Date.now() })
}

/** Against DNS rebinding: a page on the web can make a browser call loopback, but not with a local Host and Origin. */
function localOnly(hosts: readonly string[]): MiddlewareHandler {
  const allowed = (name: string | undefined) => name !== undefined && hosts.includes(name.toLowerCase())
  return async (c, next) => {
    const host = c.req.header("host")
    if (!allowed(hostName(host)))
      throw new Failure("forbidden", `the host ${JSON.stringify(host ?? "")} is not served here`)
    const origin = c.req.header("origin")
    if (origin !== undefined && !allowed(URL.parse(origin)?.hostname)) {
      throw new Failure("forbidden", `the origin ${JSON.stringify(origin)} may not call`)
    }
    await next()
  }
}

function hostName(host: string | undefined): string | undefined {
  return host === undefined ? undefined : URL.parse(`http://${host}`)?.hostname
}

function bearer({ token, sessionKey }: { token: string; sessionKey: string }): MiddlewareHandler {
  const digest = (text: string) => createHash("sha256").update(text).digest()
  const [tokenDigest, ownerDigest] = [digest(token), digest(sessionKey)]
  return async (c, next) => {
    const given = /^Bearer (.+)$/i.exec(c.req.header("authorization") ?? "")?.[1]
    const found = digest(given ?? "")
    const isOwner = timingSafeEqual(found, ownerDigest)
    if (given === undefined || (!isOwner && !timingSafeEqual(found, tokenDigest))) {
      c.header("WWW-Authenticate", "Bearer")
      throw new Failure(
        "unauthorized",
        given === undefined ? "a bearer token is needed" : "the bearer token is not the right one",
      )
    }
    c.set("isOwner", isOwner)
    await next()
  }
}
