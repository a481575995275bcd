import { Agent, request } from "node:http"
import { connect, type OnReadOpts } from "node:net"
import type { Duplex } from "node:stream"
import type { Carrier } from "./client.ts"
import { STREAM_PATH } from "./client.ts"

/** The request did not reach the daemon, or the daemon died while handling it. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost"
}

/** Carries requests over the daemon's unix socket, one kept connection per call at a time. */
export function socketCarrier(socketPath: string, timeoutMs?: number): Carrier & { close(): void } {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const carry: Carrier = ({ path, body, headers }) =>
    new Promise((resolve, reject) => {
      const lost = (cause: unknown) => reject(new ConnectionLost(`no answer at ${socketPath}`, { cause }))
      const sent = request(
        {
          socketPath,
          path,
          agent,
          method: "POST",
          headers: { ...headers, host: "localhost", "content-length": Buffer.byteLength(body) },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on("data", (chunk: Buffer) => chunks.push(chunk))
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") }),
          )
          response.on("error", lost)
        },
      )
      sent.on("error", lost)
      if (timeoutMs !== undefined)
        sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)))
      sent.end(body)
    })
  return Object.assign(carry, { close: () => agent.destroy() })
}

/**
 * Turns a connection of the socket into a plain stream of MCP lines. The handshake is written by hand: a connection that
 * went through the HTTP client keeps that client's bookkeeping, and every line would pay for it.
 */
export function upgrade(
  socketPath: string,
  headers: Record<string, string>,
  onBytes: (bytes: Buffer) => void,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) => reject(new ConnectionLost(`no answer at ${socketPath}`, { cause }))
    let answer = Buffer.alloc(0)
    const onHead = (bytes: Buffer) => {
      answer = Buffer.concat([answer, bytes])
      const end = answer.indexOf(END_OF_HEAD)
      if (end < 0) return
      socket.off("error", lost).off("close", lost)
      const [status = ""] = answer.toString("latin1").split("\r\n")
      if (!status.includes(" 101 ")) {
        socket.destroy()
        return lost(new Error(`the daemon answered ${status}`))
      }
      take = onBytes
      const rest = answer.subarray(end + END_OF_HEAD.length)
      if (rest.length > 0) take(rest)
      resolve(socket)
    }
    let take = onHead
    const socket = connect({ path: socketPath, onread: intoOneBuffer((bytes) => take(bytes)) })
    socket.on("error", lost).on("close", lost)
    const lines = Object.entries({ ...headers, host: "localhost", connection: "Upgrade", upgrade: "mcp" })
    socket.write(`GET ${STREAM_PATH} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`)
  })
}

const END_OF_HEAD = "\r\n\r\n"

/**
 * For a pipe or socket whose bytes are only relayed: a stream's work per read would cost more. The
 * bytes passed on are a copy, and may be retained.
 */
export function intoOneBuffer(onBytes: (bytes: Buffer) => void): OnReadOpts {
  return {
    buffer: Buffer.allocUnsafe(READ_BYTES),
    callback(count, buffer) {
      onBytes(Buffer.from(buffer.subarray(0, count)))
      return true
    },
  }
}

const READ_BYTES = 65_536
