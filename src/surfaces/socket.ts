import { Agent, request } from "node:http"
import { connect } from "node:net"
import type { Carrier } from "./client.ts"
import { STREAM_PATH } from "./paths.ts"

/** A failure to connect: the request did not reach the daemon, or the daemon died over it. */
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

/** A connection that carries lines both ways, without a stream around it: for a single line that costs more than the line. */
export interface Link {
  write(line: Buffer): void
  /** From now on, and what came before. */
  listen(onChunk: (chunk: Buffer) => void): void
  onClose(closed: () => void): void
}

const CHUNK_BYTES = 64 * 1024

/**
 * Turns a connection of the socket into one that carries MCP lines. The handshake is written by hand: a connection that
 * went through the HTTP client keeps that client's bookkeeping, and every line would pay for it.
 */
export function upgrade(socketPath: string, headers: Record<string, string>): Promise<Link> {
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) => reject(new ConnectionLost(`no answer at ${socketPath}`, { cause }))
    let answer = Buffer.alloc(0)
    let take = (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk])
      const end = answer.indexOf(END_OF_HEAD)
      if (end < 0) return
      const [status = ""] = answer.toString("latin1").split("\r\n")
      if (!status.includes(" 101 ")) {
        socket.destroy()
        return lost(new Error(`the daemon answered ${status}`))
      }
      socket.off("error", lost).off("close", lost)
      socket.on("error", () => socket.destroy())
      let early: Buffer[] = [answer.subarray(end + END_OF_HEAD.length)]
      take = (more) => void early.push(more)
      resolve({
        write: (line) => void socket.write(line),
        listen(onChunk) {
          take = onChunk
          for (const waiting of early) if (waiting.length > 0) onChunk(waiting)
          early = []
        },
        onClose: (closed) => (socket.destroyed ? closed() : void socket.once("close", closed)),
      })
    }
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
    const socket = connect({
      path: socketPath,
      onread: {
        buffer,
        callback(count) {
          // Lines are used after this returns, and the buffer is filled again right away.
          take(Buffer.from(buffer.subarray(0, count)))
          return true
        },
      },
    })
    socket.on("error", lost).on("close", lost)
    const lines = Object.entries({ ...headers, host: "localhost", connection: "Upgrade", upgrade: "mcp" })
    socket.write(`GET ${STREAM_PATH} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`)
  })
}

const END_OF_HEAD = "\r\n\r\n"
