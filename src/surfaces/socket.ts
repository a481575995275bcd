import { Agent, request } from "node:http"
import type { Duplex } from "node:stream"
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

/** Turns a connection of the socket into a plain stream of MCP lines. */
export function upgrade(socketPath: string, headers: Record<string, string>): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) => reject(new ConnectionLost(`no answer at ${socketPath}`, { cause }))
    const sent = request({
      socketPath,
      path: STREAM_PATH,
      headers: { ...headers, host: "localhost", connection: "Upgrade", upgrade: "mcp" },
    })
    sent.on("upgrade", (_response, socket) => resolve(socket))
    sent.on("response", (response) => lost(new Error(`the daemon answered ${response.statusCode}`)))
    sent.on("error", lost)
    sent.end()
  })
}
