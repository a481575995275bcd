import type { Duplex, Writable } from "node:stream"
import { Failure } from "../../domain/failure.ts"
import { after } from "../../lib/clock.ts"
import { lineTaker } from "../cli/lines.ts"
import { MAX_BODY_BYTES } from "../http/client.ts"

export interface RelayOptions {
  /** Listens to what the agent writes. */
  listen(onBytes: (bytes: Buffer) => void): void
  output: Writable
  /** Opens a connection to the daemon, starting it if needed, and passes on what the daemon writes. */
  connect(onBytes: (bytes: Buffer) => void): Promise<Duplex>
}

const MOST_SENDS = 3
/** Relayed lines are parsed after both sides have them, or when this many have piled up. */
const LOOK_AFTER_MS = 10
const MOST_UNSEEN = 256

type RequestId = string | number

interface Carried {
  line: Buffer
  from: "agent" | "daemon"
  isSent: boolean
}

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
export function relay({ listen, output, connect }: RelayOptions): void {
  const unanswered = new Map<RequestId, { line: Buffer; sent: number }>()
  const handshake: Buffer[] = []
  let handshakeId: RequestId | undefined
  /** The id of a repeated handshake, whose answer is ours: the agent already has its own. */
  let repeatedId: RequestId | undefined
  let link: Duplex | undefined
  let connecting = false
  let unseen: Carried[] = []
  let cancelLook: (() => void) | undefined

  const open = async () => {
    if (connecting || link) return
    connecting = true
    try {
      const fresh = await connect(lineTaker((line) => fromDaemon(line)))
      link = fresh
      const first = handshakeId === undefined ? undefined : unanswered.get(handshakeId)
      if (first && ++first.sent > MOST_SENDS) {
        giveUp(handshakeId!)
        handshake.length = 0
        handshakeId = undefined
      }
      for (const line of handshake) fresh.write(line)
      repeatedId = handshakeId === undefined || unanswered.has(handshakeId) ? undefined : handshakeId
      for (const [id, request] of unanswered) {
        if (handshake.includes(request.line)) continue
        if (++request.sent > MOST_SENDS) giveUp(id)
        else fresh.write(request.line)
      }
      fresh.on("error", () => fresh.destroy())
      fresh.once("close", () => {
        if (link === fresh) link = undefined
        look()
        // Reconnect now: pending requests need their answers.
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
      // The daemon would drop the connection, at every retry.
      const { id } = peek(line)
      if (id !== undefined)
        refuse(id, new Failure("too_large", `a message may contain at most ${MAX_BODY_BYTES / 1024 / 1024} MB`))
      return
    }
    const isSent = link !== undefined
    link?.write(line)
    lookLater({ line, from: "agent", isSent })
    if (isSent) return
    look()
    void open()
  }

  const fromDaemon = (line: Buffer) => {
    if (repeatedId === undefined) {
      output.write(line)
      lookLater({ line, from: "daemon", isSent: true })
      return
    }
    look()
    const { id, method } = peek(line)
    if (method === undefined && id === repeatedId && !unanswered.has(id)) repeatedId = undefined
    else {
      noteAnswer(line)
      output.write(line)
    }
  }

  /** Relaying comes first; bookkeeping is deferred. */
  const lookLater = (carried: Carried) => {
    unseen.push(carried)
    if (unseen.length > MOST_UNSEEN) look()
    else cancelLook ??= after(LOOK_AFTER_MS, look)
  }

  const look = () => {
    cancelLook?.()
    cancelLook = undefined
    const carried = unseen
    unseen = []
    for (const { line, from, isSent } of carried) {
      if (from === "agent") noteRequest(line, isSent)
      else noteAnswer(line)
    }
  }

  const noteRequest = (line: Buffer, isSent: boolean) => {
    const { id, method, params } = peek(line)
    if (method === "initialize" && id !== undefined) {
      handshake.splice(0, Number.POSITIVE_INFINITY, line)
      handshakeId = id
    } else if (method === "notifications/initialized") handshake.push(line)
    if (method === "notifications/cancelled" && params?.requestId !== undefined) unanswered.delete(params.requestId)
    if (method !== undefined && id !== undefined) unanswered.set(id, { line, sent: isSent ? 1 : 0 })
  }

  const noteAnswer = (line: Buffer) => {
    const { id, method } = peek(line)
    if (method === undefined && id !== undefined) unanswered.delete(id)
  }

  const refuse = (id: RequestId, { message, kind }: Failure) => {
    const error = { code: -32_000, message: `${message}. ${kind.help}` }
    output.write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`)
  }

  /** A request that kills the daemon each time must not block the others. */
  const giveUp = (id: RequestId) => {
    unanswered.delete(id)
    refuse(id, new Failure("daemon_unreachable", `the daemon was lost ${MOST_SENDS} times over this request`))
  }

  const refuseAll = (failure: Failure) => {
    for (const id of unanswered.keys()) refuse(id, failure)
    unanswered.clear()
  }

  void open()
  listen(lineTaker(fromAgent))
}

/** The relay's view of a message; invalid JSON is passed on for the daemon to reject. */
function peek(line: Buffer): Message {
  try {
    const message: unknown = JSON.parse(line.toString("utf8"))
    return typeof message === "object" && message !== null ? (message as Message) : {}
  } catch {
    return {}
  }
}
