// The MCP half of fuzz.ts: both protocol eras, over HTTP `/mcp` and over the stream that `throughline mcp` speaks. Every tool
// is called with random arguments; operations that are no tools are called by name; and one request in ten is malformed.
import type { Duplex } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import type { CallerKind } from "../src/domain/caller.ts"
import { operations } from "../src/operations/list.ts"
import type { Operation } from "../src/operations/operation.ts"
import { lines, lineTaker } from "../src/surfaces/cli/lines.ts"
import { CALLER_HEADER } from "../src/surfaces/http/client.ts"
import { upgrade } from "../src/surfaces/http/socket.ts"
import { ask, spawnCli, type TestHome } from "../test/fixtures/daemon.ts"
import { type FuzzReport, facts, MOST_MS_EACH, SLOW, withTarget } from "./fuzz.ts"
import { anything, inputFor, mulberry, pick, type Random, TEXTS } from "./fuzz-inputs.ts"

type Era = "2025" | "2026"
type Message = Record<string, unknown>

/** What came back, whichever way it went: a status of HTTP's, and the message where there is one. */
interface Reply {
  status: number
  message?: Message
  text: string
}

interface Way {
  name: string
  kind: CallerKind
  era: Era
  /** All of its requests must be refused at the door. */
  isShutOut?: true
  open(): Promise<Link>
}

interface Link {
  send(message: unknown): Promise<Reply>
  close(): void
}

/** A call that has not been answered by then hangs. Wide: the machine may be busy with other things. */
const HANGS_AFTER_MS = 60_000
const AT_ONCE = 8
const INTERNAL = -32_603
const isTool = (op: Operation) => op.on.includes("mcp") && op.tool !== undefined

export async function fuzzMcp(times: number, seed = 1): Promise<FuzzReport> {
  const random = mulberry(seed)
  const report: FuzzReport = { requests: 0, codes: {}, fewest: Number.POSITIVE_INFINITY, troubles: [] }
  await withTarget(async ({ home, project, key }) => {
    for (const way of ways(home, project, key)) {
      const before = facts(home)
      const link = await way.open()
      try {
        for (const op of operations) await hammer(op, way, link)
        await aliveStill(way, link)
      } finally {
        link.close()
      }
      const after = facts(home)
      if (after !== before) report.troubles.push(`${way.name} changed something: ${before} → ${after}`)
    }

    async function hammer(op: Operation, { name, era, isShutOut }: Way, link: Link) {
      const count = isTool(op) ? (SLOW.has(op.name) ? Math.min(times, 3) : times) : Math.ceil(times / 10)
      report.codes[name] ??= {}
      const codes = report.codes[name]
      const endMs = Date.now() + MOST_MS_EACH
      let sent = 0
      while (sent < count && Date.now() < endMs) {
        const batch = Array.from({ length: Math.min(AT_ONCE, count - sent) }, () => {
          const message = called(op, era, random, project)
          return random() < 0.1 ? malformed(message, random) : message
        })
        sent += batch.length
        await Promise.all(batch.map((message) => one(message)))
      }
      if (isTool(op) && count === times) report.fewest = Math.min(report.fewest, sent)

      async function one(message: unknown) {
        const { status, message: answer, text } = await link.send(message)
        report.requests++
        const code = codeOf(status, answer)
        codes[code] = (codes[code] ?? 0) + 1
        const told = (what: string) =>
          report.troubles.push(`${op.name} as ${name}: ${what} for ${JSON.stringify(message).slice(0, 300)}: ${text}`)
        if (code === "internal" || code === `rpc ${INTERNAL}` || status >= 500) told(code)
        if (code === HUNG) told("no answer")
        if (code === "ok" && (isShutOut || !isTool(op)) && isCallOf(message, op)) told("was let through")
        if (isShutOut && status !== 403) told(`${status} instead of a refusal`)
      }
    }

    /** Whatever was sent before, the connection still answers. */
    async function aliveStill({ name, era, isShutOut }: Way, link: Link) {
      if (isShutOut) return
      const { text, message } = await link.send(request(era, "tools/list", {}))
      if (!message?.result) report.troubles.push(`${name} no longer answers: ${text}`)
    }
  })
  return report
}

function ways(home: TestHome, project: string, key: string): Way[] {
  const claims = { surface: "cli", isOwner: true, client: { name: "the owner", version: "1" }, cwd: "/" }
  const claimed = { [CALLER_HEADER]: encodeURIComponent(JSON.stringify(claims)) }
  const overHttp = (era: Era, headers: Record<string, string> = {}, socket = false) => ({
    era,
    open: () => httpLink(home, era, headers, socket),
  })
  const overStdio = (era: Era) => ({ era, open: () => stdioLink(home, project, era) })
  const overStream = (era: Era) => ({ era, open: () => streamLink(home, era, claimed) })
  const agent = "agent" as const
  return (["2025", "2026"] as const).flatMap((era) => [
    { name: `token, ${era}`, kind: agent, ...overHttp(era) },
    { name: `token that claims to be the owner, ${era}`, kind: agent, ...overHttp(era, claimed) },
    { name: `/mcp on the socket, ${era}`, kind: agent, ...overHttp(era, claimed, true) },
    { name: `dashboard's key, ${era}`, kind: agent, isShutOut: true as const, ...overHttp(era, bearer(key)) },
    { name: `throughline mcp, ${era}`, kind: agent, ...overStdio(era) },
    { name: `stream that claims to be the owner, ${era}`, kind: agent, ...overStream(era) },
  ])
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "the owner", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { roots: {} },
}

let lastId = 0

function request(era: Era, method: string, params: Message): Message {
  const meta = era === "2026" ? { _meta: { ...ENVELOPE, ...(params._meta as object | undefined) } } : {}
  return { jsonrpc: "2.0", id: ++lastId, method, params: { ...params, ...meta } }
}

function called(op: Operation, era: Era, random: Random, project: string): Message {
  const input = random() < 0.1 ? anything(random, 3) : inputFor(op, random, project)
  const meta = random() < 0.3 ? { _meta: { [pick(random, META)]: anything(random, 1) } } : {}
  return request(era, "tools/call", { name: op.name, arguments: input, ...meta })
}

const META = ["progressToken", "claudecode/toolUseId", "threadId", "sessionId", "callId", "io.modelcontextprotocol/x"]
const METHODS = [
  ..."initialize|ping|tools/list|resources/read|prompts/get|logging/setLevel|roots/list|sampling/createMessage".split(
    "|",
  ),
  ..."notifications/cancelled|notifications/initialized|server/discover|subscriptions/listen|completion/complete|x".split(
    "|",
  ),
]

/** One part of the message is replaced, left out or doubled. */
function malformed(message: Message, random: Random): unknown {
  const params = message.params as Message
  return pick<() => unknown>(random, [
    () => ({ ...message, method: pick(random, METHODS) }),
    () => ({ ...message, method: anything(random, 1) }),
    () => ({ ...message, params: anything(random, 3) }),
    () => ({ ...message, params: { ...params, name: pick(random, TEXTS) } }),
    () => ({ ...message, params: { ...params, name: anything(random, 1) } }),
    () => ({ ...message, params: { ...params, _meta: anything(random, 2) } }),
    () => ({
      ...message,
      params: { ...params, _meta: { ...ENVELOPE, [pick(random, ENVELOPE_KEYS)]: anything(random, 1) } },
    }),
    () => ({ ...message, params: { ...params, requestState: "x", inputResponses: anything(random, 3) } }),
    () => ({ ...message, jsonrpc: anything(random, 1) }),
    () => ({ ...message, id: anything(random, 1) }),
    () => [message, { ...message, id: `${message.id}b` }],
    () => anything(random, 4),
    () => `{"jsonrpc":"2.0","id":${message.id},"method":"tools/call","params":${"[".repeat(20_000)}`,
    () => JSON.stringify(message).slice(0, -5),
  ])()
}

const ENVELOPE_KEYS = Object.keys(ENVELOPE)
const textOf = (message: unknown) => (typeof message === "string" ? message : JSON.stringify(message))

function isCallOf(message: unknown, { name }: Operation): boolean {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
  return method === "tools/call" && params?.name === name
}

const HUNG = "hung"
const UNHEARD = "nothing to answer"

function codeOf(status: number, message: Message | undefined): string {
  if (status === 0) return HUNG
  if (message === undefined) return status === 202 ? UNHEARD : `http ${status}`
  const { error, result } = message as { error?: { code: unknown }; result?: { isError?: boolean; content?: unknown } }
  if (error) return typeof error.code === "number" ? `rpc ${error.code}` : String(error.code)
  if (!result?.isError) return "ok"
  const [part] = result.content as { text?: string }[]
  return part?.text?.split(":")[0] ?? "no text"
}

/** Requests of a 2025 client belong to a session; those of a 2026 client name their method and tool in headers too. */
async function httpLink(home: TestHome, era: Era, headers: Record<string, string>, socket: boolean): Promise<Link> {
  const post = async (message: unknown, more: Record<string, string>): Promise<Reply & { session?: string }> => {
    const asked = ask(home, {
      path: "/mcp",
      body: textOf(message),
      socket,
      headers: { accept: "application/json, text/event-stream", ...more, ...headers },
    })
    const answer = await Promise.race([asked, hung()])
    if (answer === undefined) return { status: 0, text: "" }
    const session = answer.headers["mcp-session-id"]
    const said = messageIn(answer.body)
    return {
      status: answer.status,
      text: answer.body.slice(0, 300),
      ...(said ? { message: said } : {}),
      ...(typeof session === "string" ? { session } : {}),
    }
  }
  if (era === "2026") {
    const named = (message: unknown) => {
      const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } | null }
      return {
        "mcp-protocol-version": "2026-07-28",
        ...(isHeader(method) ? { "mcp-method": method } : {}),
        ...(isHeader(params?.name) ? { "mcp-name": params.name } : {}),
      }
    }
    return { send: (message) => post(message, named(message)), close() {} }
  }
  const { session = "" } = await post(initialize(), {})
  const inSession = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }
  if (session !== "") await post({ jsonrpc: "2.0", method: "notifications/initialized" }, inSession)
  return { send: (message) => post(message, session === "" ? {} : inSession), close() {} }
}

const isHeader = (value: unknown): value is string => typeof value === "string" && /^[\x21-\x7e]+$/.test(value)

const initialize = () => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "the owner", version: "1" } }
  return { jsonrpc: "2.0", id: ++lastId, method: "initialize", params }
}

const hung = () => sleep(HANGS_AFTER_MS, undefined, { ref: false })

/** Plain JSON, or the last event of a stream. */
function messageIn(body: string): Message | undefined {
  const data = body.startsWith("{")
    ? body
    : body
        .split("\n")
        .findLast((line) => line.startsWith("data: {"))
        ?.slice(6)
  try {
    return data === undefined ? undefined : (JSON.parse(data) as Message)
  } catch {
    return undefined
  }
}

/** As agents do it: a child that carries lines. */
function stdioLink(home: TestHome, project: string, era: Era): Promise<Link> {
  const child = spawnCli(home, ["mcp"], { cwd: project })
  child.stderr.resume()
  return lineLink(era, {
    listen: (onLine) => lines(child.stdout, onLine),
    write: (line) => child.stdin.write(line),
    close: () => child.kill(),
  })
}

/** What that child speaks to, with a caller that claims more than it may. */
async function streamLink(home: TestHome, era: Era, headers: Record<string, string>): Promise<Link> {
  let onLine = (_: Buffer) => {}
  const socket: Duplex = await upgrade(
    home.registration().socket,
    headers,
    lineTaker((line) => onLine(line)),
  )
  return lineLink(era, {
    listen: (listener) => {
      onLine = listener
    },
    write: (line) => socket.write(line),
    close: () => socket.destroy(),
  })
}

interface Wire {
  listen(onLine: (line: Buffer) => void): void
  write(line: string): void
  close(): void
}

async function lineLink(era: Era, { listen, write, close }: Wire): Promise<Link> {
  const waiting = new Map<unknown, (message: Message) => void>()
  listen((line) => {
    const message = JSON.parse(line.toString("utf8")) as Message
    const { id, method } = message
    if (method === "roots/list") return write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { roots: [] } })}\n`)
    if (method !== undefined) return
    waiting.get(id)?.(message)
    waiting.delete(id)
  })
  const answerTo = async (id: unknown, line: string): Promise<Reply> => {
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    write(line)
    const message = await Promise.race([answered, hung()])
    return message ? { status: 200, message, text: JSON.stringify(message).slice(0, 300) } : { status: 0, text: "" }
  }
  const send = async (message: unknown): Promise<Reply> => {
    const { id, method } = (message ?? {}) as Message
    const isRequest = method !== undefined && Number.isSafeInteger(id)
    const line = `${textOf(message).replaceAll("\n", " ")}\n`
    // A handshake in the middle would begin another connection; the rest of what cannot be answered goes unanswered.
    if (isRequest && !/^(?:initialize$|notifications\/)/.test(String(method))) return answerTo(id, line)
    write(line)
    const ping = request(era, "tools/list", {})
    const { status, text } = await answerTo(ping.id, `${JSON.stringify(ping)}\n`)
    return { status: status === 0 ? 0 : 202, text }
  }
  if (era === "2025") {
    const hello = initialize()
    await answerTo(hello.id, `${JSON.stringify(hello)}\n`)
    write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`)
  }
  return { send, close }
}
