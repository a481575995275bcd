import type { Duplex, Readable, Writable } from "node:stream"
import { Failure } from "../domain/failure.ts"
import { MAX_BODY_BYTES } from "./limits.ts"
import { lines } from "./lines.ts"

export interface RelayOptions {
  input: Readable
  output: Writable
  /** A fresh connection to the daemon, which it starts if need be. */
  connect(): Promise<Duplex>
}

const MOST_SENDS = 3

type RequestId = string | number

interface Message {
  id?: RequestId
  method?: string
  params?: { requestId?: RequestId }
}

/**
 * Carries an agent's MCP lines to the daemon and back. The protocol itself is spoken by the daemon, so this stays small
 * and quick to start. When the daemon dies, the agent does not notice: the relay connects again, repeats the handshake
 * and the requests that are still unanswered. The daemon knows each by (connection, request id) and does none twice.
 */
export function relay({ input, output, connect }: RelayOptions): void {
  const unanswered = new Map<RequestId, { line: Buffer; sent: number }>()
  const handshake: Buffer[] = []
  let handshakeId: RequestId | undefined
  /** A handshake that was repeated: its answer is for us, the agent had its own. */
  let repeatedId: RequestId | undefined
  let link: Duplex | undefined
  let connecting = false

  const open = async () => {
    if (connecting || link) return
    connecting = true
    try {
      const fresh = await connect()
      link = fresh
      for (const line of handshake) fresh.write(line)
      repeatedId = handshakeId === undefined || unanswered.has(handshakeId) ? undefined : handshakeId
      for (const [id, request] of unanswered) {
        if (handshake.includes(request.line)) continue
        if (++request.sent > MOST_SENDS) giveUp(id)
        else fresh.write(request.line)
      }
      lines(fresh, (line) => fromDaemon(line))
      fresh.on("error", () => fresh.destroy())
      fresh.once("close", () => {
        if (link === fresh) link = undefined
        // Waiting for the next request would leave the ones under way unanswered.
        if (unanswered.size > 0) void open()
      })
    } catch (error) {
      refuseAll(Failure.from(error))
    } finally {
      connecting = false
    }
  }

  const fromAgent = (line: Buffer) => {
    if (line.length > MAX_BODY_BYTES) {
      // The daemon would hang up on it, and on each repetition.
      const { id } = peek(line)
      if (id !== undefined)
        refuse(id, new Failure("too_large", `a message may hold ${MAX_BODY_BYTES / 1024 / 1024} MB at the most`))
      return
    }
    // Carried first and looked at while the daemon works; its answer cannot be read before this is over.
    link?.write(line)
    const { id, method, params } = peek(line)
    if (method === "initialize" && id !== undefined) {
      handshake.splice(0, Number.POSITIVE_INFINITY, line)
      handshakeId = id
    } else if (method === "notifications/initialized") handshake.push(line)
    if (method === "notifications/cancelled" && params?.requestId !== undefined) unanswered.delete(params.requestId)
    if (method !== undefined && id !== undefined) unanswered.set(id, { line, sent: link ? 1 : 0 })
    if (!link) void open()
  }

  const fromDaemon = (line: Buffer) => {
    const mayBeOurs = repeatedId !== undefined
    if (!mayBeOurs) output.write(line)
    const { id, method } = peek(line)
    const isAnswer = method === undefined && id !== undefined
    if (isAnswer && !unanswered.delete(id) && id === repeatedId) repeatedId = undefined
    else if (mayBeOurs) output.write(line)
  }

  const refuse = (id: RequestId, { message, kind }: Failure) => {
    const error = { code: -32_000, message: `${message}. ${kind.help}` }
    output.write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`)
  }

  /** A request over which the daemon dies each time must not keep it from the others. */
  const giveUp = (id: RequestId) => {
    unanswered.delete(id)
    refuse(id, new Failure("daemon_unreachable", `the daemon was lost ${MOST_SENDS} times over this request`))
  }

  const refuseAll = (failure: Failure) => {
    for (const id of unanswered.keys()) refuse(id, failure)
    unanswered.clear()
  }

  void open()
  lines(input, fromAgent)
}

/** What the relay must know of a message; a line that is no JSON is passed on for the daemon to refuse. */
function peek(line: Buffer): Message {
  try {
    const message: unknown = JSON.parse(line.toString("utf8"))
    return typeof message === "object" && message !== null ? (message as Message) : {}
  } catch {
    return {}
  }
}
