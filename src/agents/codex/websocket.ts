import { connect } from "node:net"
import type { ClientOptions } from "ws"

/** A WebSocket client over a unix socket, which Node's own client cannot open. Text messages only. */
export interface WebSocketLine {
  send(text: string): void
  close(): void
}

export interface WebSocketOptions {
  socketPath: string
  timeoutMs: number
  onText(text: string): void
  /** Called once, whoever closed it. */
  onEnd(cause: Error | undefined): void
}

/** A whole history may come in one message. */
const MAX_BYTES = 256 * 1024 * 1024
/** How long the other side may take to close. */
const CLOSE_MS = 200

export async function openWebSocket({
  socketPath,
  timeoutMs,
  onText,
  onEnd,
}: WebSocketOptions): Promise<WebSocketLine> {
  // Loaded lazily: most daemons never meet an app-server.
  const { WebSocket } = await import("ws")
  // The published types lack closeTimeout.
  const options: ClientOptions & { closeTimeout: number } = {
    // A "ws+unix:" URL cannot express every path.
    createConnection: () => connect({ path: socketPath, timeout: timeoutMs }),
    handshakeTimeout: timeoutMs,
    closeTimeout: CLOSE_MS,
    maxPayload: MAX_BYTES,
    perMessageDeflate: false,
  }
  const socket = new WebSocket("ws://localhost/", options)
  let cause: Error | undefined
  socket.on("error", (error) => {
    cause = error
    // Otherwise it waits for the other side to close.
    socket.terminate()
  })
  socket.on("message", (data, isBinary) => {
    if (!isBinary) onText(data.toString())
  })
  return new Promise((resolve, reject) => {
    socket.once("close", () => reject(cause ?? new Error("closed before it was open")))
    socket.once("open", () => {
      socket.once("close", () => onEnd(cause))
      resolve({ send: (text) => socket.send(text), close: () => socket.close(1000) })
    })
  })
}
