import { createHash, randomBytes } from "node:crypto"
import { request } from "node:http"
import type { Socket } from "node:net"

/** A WebSocket's client side over a unix socket: texts only, which is all that app servers speak. Node's own cannot do that. */
export interface WebSocketLine {
  send(text: string): void
  close(): void
}

export interface WebSocketWish {
  socketPath: string
  timeoutMs: number
  onText(text: string): void
  /** Once, whoever ended it and however; also when what came was no WebSocket. */
  onEnd(cause: Error | undefined): void
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
const OP = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
/** A whole history may come in one text; more than this is not one. */
const MAX_BYTES = 256 * 1024 * 1024

export function openWebSocket({ socketPath, timeoutMs, onText, onEnd }: WebSocketWish): Promise<WebSocketLine> {
  return new Promise((resolve, reject) => {
    const key = randomBytes(16).toString("base64")
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": key,
    }
    const asked = request({ socketPath, path: "/", headers, timeout: timeoutMs })
    asked.on("timeout", () => asked.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    asked.on("error", reject)
    asked.on("response", (response) => {
      response.destroy()
      reject(new Error(`answered ${response.statusCode} where a WebSocket was asked for`))
    })
    asked.on("upgrade", (response, socket: Socket, head) => {
      const accepted = createHash("sha1").update(`${key}${GUID}`).digest("base64")
      if (response.headers["sec-websocket-accept"] !== accepted) {
        socket.destroy()
        reject(new Error("answered with another's key"))
        return
      }
      socket.setTimeout(0)
      resolve(speak(socket, head, { onText, onEnd }))
    })
    asked.end()
  })
}

function speak(socket: Socket, head: Buffer, { onText, onEnd }: Pick<WebSocketWish, "onText" | "onEnd">) {
  let cause: Error | undefined
  const write = (op: number, payload: Buffer) => {
    if (socket.writable) socket.write(frameOf(op, payload))
  }
  // Once it is said, nobody is waited for.
  const leave = (code: Buffer) => void socket.end(frameOf(OP.close, code), () => socket.destroy())
  const take = frameReader((op, payload) => {
    if (op === OP.text) onText(payload.toString("utf8"))
    else if (op === OP.ping) write(OP.pong, payload)
    else if (op === OP.close) leave(payload.subarray(0, 2))
  })
  const read = (chunk: Buffer) => {
    try {
      take(chunk)
    } catch (error) {
      socket.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }
  socket.on("data", read)
  socket.on("end", () => socket.end())
  socket.on("error", (error) => {
    cause = error
  })
  socket.on("close", () => onEnd(cause))
  // What came together with the answer is handed over once the caller has its line.
  if (head.length > 0) setImmediate(read, head)
  return {
    send: (text: string) => write(OP.text, Buffer.from(text, "utf8")),
    close: () => leave(Buffer.from([0x03, 0xe8])),
  }
}

/** A client's frames are masked; one text is one frame. */
function frameOf(op: number, payload: Buffer): Buffer {
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = 0x80 | op
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  const mask = randomBytes(4)
  const masked = Buffer.from(payload)
  for (let at = 0; at < length; at++) masked[at]! ^= mask[at & 3]!
  return Buffer.concat([head, mask, masked])
}

/** Puts together what comes in pieces: frames from chunks, texts from frames. Throws on what no server may send. */
function frameReader(onMessage: (op: number, payload: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = []
  let held = 0
  let wanted = 2
  let parts: Buffer[] = []
  let partsOp = 0
  const readFrame = (bytes: Buffer): number => {
    const short = bytes[1]! & 0x7f
    if ((bytes[0]! & 0x70) !== 0 || (bytes[1]! & 0x80) !== 0) throw new Error("sent a frame that is not plain")
    const start = short < 126 ? 2 : short === 126 ? 4 : 10
    if (bytes.length < start) return start
    const size = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    if (size > MAX_BYTES) throw new Error(`sent a frame of ${size} bytes`)
    if (bytes.length < start + size) return start + size
    const [op, isLast, payload] = [bytes[0]! & 0x0f, (bytes[0]! & 0x80) !== 0, bytes.subarray(start, start + size)]
    if (op >= OP.close) onMessage(op, payload)
    else {
      if (op !== OP.more) partsOp = op
      parts.push(payload)
      if (isLast) {
        onMessage(partsOp, parts.length === 1 ? payload : Buffer.concat(parts))
        parts = []
      }
    }
    const rest = bytes.subarray(start + size)
    chunks = [rest]
    held = rest.length
    return 2
  }
  return (chunk) => {
    chunks.push(chunk)
    held += chunk.length
    while (held >= wanted) {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      chunks = [bytes]
      wanted = readFrame(bytes)
    }
  }
}
