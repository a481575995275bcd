import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { openWebSocket, type WebSocketLine } from "./websocket.ts"

let dir: string
let server: Server
let line: WebSocketLine | undefined
let heard: string[]
let ends: (Error | undefined)[]

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "ws-"))
  heard = []
  ends = []
})
afterEach(() => {
  line?.close()
  line = undefined
  server?.closeAllConnections()
  server?.close()
  rmSync(dir, { recursive: true, force: true })
})

/** A server that upgrades as the standard says, and then does what the test wants with the bytes. */
async function connect(onSocket: (socket: Socket) => void, answer = accepted): Promise<WebSocketLine> {
  const socketPath = join(dir, "s")
  server = createServer((_, response) => response.writeHead(404).end())
  server.on("upgrade", (request, socket) => {
    socket.on("error", () => {})
    socket.write(answer(request.headers["sec-websocket-key"]!))
    onSocket(socket as Socket)
  })
  await new Promise<void>((resolve) => server.listen(socketPath, resolve))
  const [texts, causes] = [heard, ends]
  line = await openWebSocket({
    socketPath,
    timeoutMs: 500,
    onText: (text) => texts.push(text),
    onEnd: (cause) => causes.push(cause),
  })
  return line
}

const accepted = (key: string) => {
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64")
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
}

/** A server's frame, unmasked. */
function frame(first: number, payload: Buffer | string): Buffer {
  const body = Buffer.from(payload)
  const head = Buffer.alloc(body.length < 126 ? 2 : body.length < 65_536 ? 4 : 10)
  head[0] = first
  head[1] = body.length < 126 ? body.length : body.length < 65_536 ? 126 : 127
  if (head.length === 4) head.writeUInt16BE(body.length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(body.length), 2)
  return Buffer.concat([head, body])
}

/** A client's frames, as they came: all must be masked. */
function unmasked(bytes: Buffer): { first: number; payload: Buffer }[] {
  const found: { first: number; payload: Buffer }[] = []
  for (let at = 0; at < bytes.length; ) {
    expect(bytes[at + 1]! & 0x80).toBe(0x80)
    const short = bytes[at + 1]! & 0x7f
    const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10)
    const size =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    const mask = bytes.subarray(start, start + 4)
    const payload = Buffer.from(bytes.subarray(start + 4, start + 4 + size)).map(
      (byte, index) => byte ^ mask[index & 3]!,
    )
    found.push({ first: bytes[at]!, payload: Buffer.from(payload) })
    at = start + 4 + size
  }
  return found
}

const sizes = [0, 1, 125, 126, 65_535, 65_536, 300_000]

test("texts of every size arrive, byte by byte or all at once", async () => {
  const texts = sizes.map((size) => "é".repeat(size / 2))
  const bytes = Buffer.concat(texts.map((text) => frame(0x81, text)))
  await connect((socket) => {
    for (let at = 0; at < 1000; at++) socket.write(bytes.subarray(at, at + 1))
    socket.write(bytes.subarray(1000))
  })
  await expect.poll(() => heard.length).toBe(texts.length)
  expect(heard).toEqual(texts)
})

test("what comes together with the answer is heard, pieces are put together, and a ping between them is answered", async () => {
  let sent = Buffer.alloc(0)
  const [start, end] = [Buffer.from("湖").subarray(0, 1), Buffer.from("湖").subarray(1)]
  await connect(
    (socket) => socket.on("data", (chunk: Buffer) => (sent = Buffer.concat([sent, chunk]))),
    (key) =>
      Buffer.concat([
        Buffer.from(accepted(key)),
        frame(0x81, "at once"),
        frame(0x01, start),
        frame(0x89, "still there?"),
        frame(0x80, end),
      ]) as unknown as string,
  )
  await expect.poll(() => heard).toEqual(["at once", "湖"])
  await expect.poll(() => unmasked(sent)).toEqual([{ first: 0x8a, payload: Buffer.from("still there?") }])
})

test("what is sent arrives masked and whole, and closing says so", async () => {
  let sent = Buffer.alloc(0)
  const line = await connect((socket) => socket.on("data", (chunk: Buffer) => (sent = Buffer.concat([sent, chunk]))))
  const texts = sizes.map((size) => "x".repeat(size))
  for (const text of texts) line.send(text)
  line.close()
  // Closing does not wait for the other side, which may still be reading.
  const close = { first: 0x88, payload: Buffer.from([0x03, 0xe8]) }
  await expect.poll(() => unmasked(sent).at(-1), { timeout: 20_000 }).toEqual(close)
  expect(
    unmasked(sent)
      .slice(0, -1)
      .map(({ payload }) => payload.toString()),
  ).toEqual(texts)
  await expect.poll(() => ends.length).toBe(1)
  line.send("after the end")
  expect(ends).toEqual([undefined])
})

test.each([
  ["a masked frame", Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x41])],
  ["a compressed frame", Buffer.from([0xc1, 0x01, 0x41])],
  ["a frame that is too large", Buffer.from([0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0])],
])("%s ends the line with a cause", async (_, bytes) => {
  await connect((socket) => socket.write(bytes))
  await expect.poll(() => ends).toEqual([expect.any(Error)])
  expect(heard).toEqual([])
})

test("the other side's goodbye is the end, and is told once", async () => {
  await connect((socket) => socket.write(frame(0x88, Buffer.from([0x03, 0xe8]))))
  await expect.poll(() => ends).toEqual([undefined])
  line?.close()
  expect(ends).toEqual([undefined])
})

test("a side that is gone without a word is noticed", async () => {
  await connect((socket) => setTimeout(() => socket.destroy(), 20))
  await expect.poll(() => ends.length).toBe(1)
})

test.each([
  ["a foreign key", (key: string) => accepted(`${key}x`), /Sec-WebSocket-Accept/],
  ["a plain answer", () => "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", /response: 200/],
  ["no answer", () => "", /timed out/],
])("%s is no line", async (_, answer, message) => {
  await expect(connect(() => {}, answer)).rejects.toThrow(message)
})

test("a socket that nobody listens on is no line", async () => {
  const request = { socketPath: join(dir, "none"), timeoutMs: 500, onText: () => {}, onEnd: () => {} }
  await expect(openWebSocket(request)).rejects.toThrow(/ENOENT/)
})
