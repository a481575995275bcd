import { Duplex, PassThrough } from "node:stream"
import { beforeEach, describe, expect, test } from "vitest"
import { MAX_BODY_BYTES } from "../http/client.ts"
import { relay } from "./mcp-stdio.ts"

interface Message {
  id?: number
  method?: string
  params?: object
  result?: unknown
}

/** The daemon's end of a connection. It writes and dies when a test says so, and so in a known order. */
class Connection extends Duplex {
  received: string[] = []
  readonly #onBytes: (bytes: Buffer) => void
  constructor(onBytes: (bytes: Buffer) => void) {
    super()
    this.#onBytes = onBytes
  }
  override _read(): void {}
  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.received.push(bytes.toString())
    done()
  }
  say(message: Message | string): void {
    this.#onBytes(Buffer.from(lineOf(message)))
  }
  /** Over once the relay has seen it. */
  async die(error?: Error): Promise<void> {
    const closed = new Promise((resolve) => this.once("close", resolve))
    this.destroy(error)
    await closed
    await settled()
  }
}

let connections: Connection[]
let connectError: Error | undefined
/** What the daemon needs to be there. */
let connectAfter: Promise<unknown> | undefined
let calls: number
let answers: string[]
let agentSays: (message: Message | string) => void

beforeEach(() => {
  connections = []
  connectError = undefined
  connectAfter = undefined
  calls = 0
  answers = []
  const output = new PassThrough().on("data", (bytes: Buffer) => answers.push(bytes.toString()))
  relay({
    listen: (onBytes) => {
      agentSays = (message) => onBytes(Buffer.from(lineOf(message)))
    },
    output,
    async connect(onBytes) {
      calls++
      await connectAfter
      if (connectError) throw connectError
      const connection = new Connection(onBytes)
      connections.push(connection)
      return connection
    },
  })
})

const lineOf = (message: Message | string) =>
  `${typeof message === "string" ? message : JSON.stringify({ jsonrpc: "2.0", ...message })}\n`
/** All that was begun here goes on within one turn of the event loop. */
const settled = () => new Promise((resolve) => setImmediate(resolve))
const lines = (...messages: (Message | string)[]) => messages.map(lineOf)

const INITIALIZE = { id: 1, method: "initialize" }
const INITIALIZED = { method: "notifications/initialized" }
const call = (id: number): Message => ({ id, method: "tools/call" })
const answer = (id: number): Message => ({ id, result: {} })

/** Connected, with the handshake done. */
async function handshake(): Promise<Connection> {
  await settled()
  const connection = connections[0]!
  agentSays(INITIALIZE)
  connection.say(answer(1))
  agentSays(INITIALIZED)
  await settled()
  answers = []
  return connection
}

test("nothing is written to the daemon before the agent speaks", async () => {
  await settled()
  expect(connections.map(({ received }) => received)).toEqual([[]])
})

test("what the agent says while a connection is being made is sent once it is there, and no second one is made", async () => {
  await settled()
  await connections[0]!.die()
  let isThere = () => {}
  connectAfter = new Promise<void>((resolve) => {
    isThere = resolve
  })
  for (const message of [INITIALIZE, INITIALIZED, call(2)]) agentSays(message)
  await settled()
  expect(connections).toHaveLength(1)
  isThere()
  await settled()
  expect(calls).toBe(2)
  expect(connections[1]!.received).toEqual(lines(INITIALIZE, INITIALIZED, call(2)))
  connections[1]!.say(answer(1))
  connections[1]!.say(answer(2))
  await settled()
  expect(answers).toEqual(lines(answer(1), answer(2)))
})

test("one connection carries all requests while it holds", async () => {
  const first = await handshake()
  for (const id of [2, 3, 4]) agentSays(call(id))
  await settled()
  expect(calls).toBe(1)
  expect(first.received.slice(2)).toEqual(lines(call(2), call(3), call(4)))
})

describe("a new connection", () => {
  test("begins with the handshake, then has the requests that are not answered", async () => {
    const first = await handshake()
    agentSays(call(2))
    agentSays(call(3))
    first.say(answer(2))
    await first.die()
    expect(connections[1]!.received).toEqual(lines(INITIALIZE, INITIALIZED, call(3)))
    connections[1]!.say(answer(1))
    connections[1]!.say(answer(3))
    await settled()
    expect(answers).toEqual(lines(answer(2), answer(3)))
  })

  test("begins with the newest handshake only", async () => {
    const first = await handshake()
    const again = { id: 9, method: "initialize" }
    agentSays(again)
    first.say(answer(9))
    agentSays(INITIALIZED)
    agentSays(call(2))
    await first.die()
    expect(connections[1]!.received).toEqual(lines(again, INITIALIZED, call(2)))
  })

  test("passes on everything but the second answer to the handshake, whatever comes first", async () => {
    const first = await handshake()
    agentSays(call(2))
    await first.die()
    const [, second] = connections
    // Each side counts its own requests, so an id may be on both.
    const passedOn = [{ id: 1, method: "ping" }, { method: "notifications/message" }, answer(7), answer(2), "no JSON"]
    for (const message of passedOn) second!.say(message)
    second!.say(answer(1))
    second!.say({ method: "notifications/progress" })
    await settled()
    expect(answers).toEqual(lines(...passedOn, { method: "notifications/progress" }))
  })

  test("has the handshake's answer for the agent if the agent never had it", async () => {
    await settled()
    agentSays(INITIALIZE)
    await connections[0]!.die()
    expect(connections[1]!.received).toEqual(lines(INITIALIZE))
    connections[1]!.say(answer(1))
    await settled()
    expect(answers).toEqual(lines(answer(1)))
  })

  test("does not repeat what was answered just now, while the handshake's answer is still due", async () => {
    const first = await handshake()
    agentSays(call(2))
    await first.die()
    const [, second] = connections
    agentSays(call(3))
    second!.say(answer(3))
    second!.say(answer(2))
    await second!.die()
    expect(connections).toHaveLength(2)
  })

  test("is made after an error of the one before", async () => {
    const first = await handshake()
    agentSays(call(2))
    await first.die(new Error("reset"))
    expect(connections[1]!.received).toEqual(lines(INITIALIZE, INITIALIZED, call(2)))
  })

  test("is not made while nothing waits for an answer, and is made for the next request", async () => {
    const first = await handshake()
    agentSays(call(2))
    first.say(answer(2))
    await first.die()
    expect(connections).toHaveLength(1)
    agentSays(call(3))
    await settled()
    expect(connections[1]!.received).toEqual(lines(INITIALIZE, INITIALIZED, call(3)))
  })

  test("has a request once more after each loss, three times in all", async () => {
    await handshake()
    agentSays(call(2))
    for (const at of [0, 1, 2]) {
      expect(connections[at]!.received.at(-1)).toBe(lineOf(call(2)))
      await connections[at]!.die()
    }
    expect(answers).toHaveLength(1)
    const message = expect.stringContaining("the daemon was lost 3 times over this request")
    expect(JSON.parse(answers[0]!)).toMatchObject({ id: 2, error: { code: -32_000, message } })
    // It is refused once, and holds up nothing that comes later.
    agentSays(call(3))
    await connections[3]!.die()
    expect(answers).toHaveLength(1)
    expect(connections[4]!.received).toEqual(lines(INITIALIZE, INITIALIZED, call(3)))
  })
})

describe("what is no request of the agent's waits for no answer", () => {
  test.each([
    ["a notification", { method: "notifications/roots/list_changed" }],
    ["an answer to the daemon", { id: 4, result: {} }],
    ["a line that is no JSON", "hello"],
    ["null", "null"],
    ["a number", "5"],
  ])("%s", async (_name, message) => {
    const first = await handshake()
    agentSays(message)
    expect(first.received.at(-1)).toBe(lineOf(message))
    await first.die()
    expect(connections).toHaveLength(1)
    // Said while there is no connection, it does no harm either.
    agentSays(message)
    await settled()
    agentSays(call(2))
    expect(connections[1]!.received.at(-1)).toBe(lineOf(call(2)))
  })

  test("a request that the agent cancelled", async () => {
    const first = await handshake()
    agentSays(call(2))
    agentSays({ method: "notifications/cancelled", params: { requestId: 2 } })
    await first.die()
    expect(connections).toHaveLength(1)
  })
})

describe("a request still waits for its answer", () => {
  test.each([
    ["when the daemon asks something under the same id", { id: 2, method: "ping" }],
    ["when the daemon notifies", { method: "notifications/progress" }],
    ["when the daemon writes a line that is no JSON", "oops"],
  ])("%s", async (_name, message) => {
    const first = await handshake()
    agentSays(call(2))
    first.say(message)
    await first.die()
    expect(answers).toEqual(lines(message))
    expect(connections[1]!.received.at(-1)).toBe(lineOf(call(2)))
  })

  test.each([
    ["another request names it", { id: 3, method: "tools/call", params: { requestId: 2 } }],
    ["another one is cancelled", { method: "notifications/cancelled", params: { requestId: 3 } }],
    ["it is not said what is cancelled", { method: "notifications/cancelled" }],
  ])("when %s", async (_name, message) => {
    agentSays(call(2))
    agentSays(message)
    await settled()
    await connections[0]!.die()
    expect(connections[1]!.received).toContain(lineOf(call(2)))
  })
})

test("where no daemon can be reached, each request is refused once, and the next one tries again", async () => {
  const first = await handshake()
  agentSays(call(2))
  agentSays(call(3))
  connectError = new Error("no daemon")
  await first.die()
  const refusals = answers.map((line) => JSON.parse(line) as Message)
  expect(refusals).toMatchObject([2, 3].map((id) => ({ jsonrpc: "2.0", id, error: { code: -32_000 } })))
  connectError = undefined
  agentSays(call(4))
  await settled()
  expect(connections[1]!.received).toEqual(lines(INITIALIZE, INITIALIZED, call(4)))
  expect(answers).toHaveLength(2)
})

describe("a message that the daemon would hang up on", () => {
  const ofBytes = (bytes: number, start: string) => `${start}${" ".repeat(bytes - start.length - 1)}`

  test("is refused with its limit, and the daemon does not see it", async () => {
    const first = await handshake()
    first.received = []
    agentSays(ofBytes(MAX_BODY_BYTES + 1, JSON.stringify(call(2))))
    agentSays(ofBytes(MAX_BODY_BYTES + 1, JSON.stringify({ method: "notifications/progress" })))
    await settled()
    expect(first.received).toEqual([])
    expect(answers).toHaveLength(1)
    expect(JSON.parse(answers[0]!)).toMatchObject({
      id: 2,
      error: { message: expect.stringContaining("a message may contain at most 32 MB") },
    })
  })

  test("is longer than the limit: one of just that length is passed on", async () => {
    const first = await handshake()
    agentSays(ofBytes(MAX_BODY_BYTES, JSON.stringify(call(2))))
    expect(first.received.at(-1)).toHaveLength(MAX_BODY_BYTES)
  })
})
