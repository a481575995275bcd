import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { afterEach, beforeEach, expect, test } from "vitest"
import { lines } from "../cli/lines.ts"
import { relay } from "./mcp-stdio.ts"

const SOON = { timeout: 60_000, interval: 10 }
const POISON = "poison"

let dir: string
let server: Server
let open: Set<Socket>
/** Requests as they arrive, connection by connection. */
let received: string[]
let connections: number
let write: (message: object) => void
let answers: { id: number; result?: unknown; error?: { message: string } }[]
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "relay-"))
  open = new Set()
  received = []
  connections = 0
  answers = []
  // Stands for a daemon that dies over one request, and is there again for the next connection.
  server = createServer((socket) => {
    connections++
    open.add(socket.on("error", () => {}).on("close", () => open.delete(socket)))
    lines(socket, (line) => {
      type Request = { id: number; method: string; params?: { isPoison?: boolean } }
      const { id, method, params } = JSON.parse(line.toString()) as Request
      received.push(`${method} ${id}`)
      if (method === POISON || params?.isPoison) socket.destroy()
      else socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { method } })}\n`)
    })
  })
  server.listen(join(dir, "s"))
  await once(server, "listening")
  const output = new PassThrough()
  lines(output, (line) => answers.push(JSON.parse(line.toString())))
  relay({
    listen: (onBytes) => {
      write = (message) => onBytes(Buffer.from(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`))
    },
    output,
    async connect(onBytes) {
      const socket = connect(join(dir, "s")).on("data", onBytes)
      await once(socket, "connect")
      return socket
    },
  })
})
afterEach(async () => {
  const closed = once(server, "close")
  server.close()
  for (const socket of open) socket.destroy()
  await closed
  rmSync(dir, { recursive: true })
})

const answerTo = (id: number) => () => answers.find((one) => one.id === id)

test("a request over which the daemon dies each time is given up after three tries, and others are answered", async () => {
  write({ id: 1, method: "initialize" })
  await expect.poll(answerTo(1), SOON).toBeDefined()
  write({ id: 2, method: POISON })
  await expect.poll(answerTo(2), SOON).toMatchObject({
    error: { message: expect.stringContaining("the daemon was lost 3 times over this request") },
  })
  expect(received.filter((one) => one === `${POISON} 2`)).toHaveLength(3)
  write({ id: 3, method: "tools/list" })
  await expect.poll(answerTo(3), SOON).toMatchObject({ result: { method: "tools/list" } })
  // The handshake is repeated on every connection, and answered to the agent once.
  expect(received.filter((one) => one === "initialize 1")).toHaveLength(connections)
  expect(answers.map(({ id }) => id)).toEqual([1, 2, 3])
})

test("a handshake over which the daemon dies each time is given up too, and the next one is answered", async () => {
  write({ id: 1, method: "initialize", params: { isPoison: true } })
  await expect.poll(answerTo(1), SOON).toMatchObject({
    error: { message: expect.stringContaining("the daemon was lost 3 times over this request") },
  })
  expect(received).toEqual(["initialize 1", "initialize 1", "initialize 1"])
  write({ id: 2, method: "initialize" })
  await expect.poll(answerTo(2), SOON).toMatchObject({ result: { method: "initialize" } })
  expect(answers.map(({ id }) => id)).toEqual([1, 2])
})
