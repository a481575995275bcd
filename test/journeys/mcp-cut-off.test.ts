import { mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { lines } from "../../src/surfaces/cli/lines.ts"
import { makeHome, spawnCli, type TestHome } from "../fixtures/daemon.ts"
import type { Era } from "../fixtures/mcp.ts"
import { proves } from "../promises.ts"

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
}

let home: TestHome
let project: string
beforeAll(async () => {
  home = makeHome()
  await home.run("start")
  project = join(realpathSync(home.env.HOME!), "project")
  mkdirSync(project)
})
afterAll(() => home.dispose())

const eras: Era[] = ["legacy", "modern"]

describe.each(eras)(`${proves("mcp.both-eras")} A tool call in the %s era`, (era) => {
  let wire: Wire
  beforeAll(async () => {
    wire = await openWire(era)
  })
  afterAll(() => wire.close())

  const thought = { thought: "one — “zwei” \u2028 ☃", nextThoughtNeeded: true }

  test("that was cut off by a dying daemon is done once", async () => {
    const { session } = result(await wire.ask({ name: "init", arguments: { operation: "start_new" } }))
    const keep = (text: string) => ({
      name: "thought",
      arguments: { ...thought, thought: text, sessionId: session.id },
    })
    await wire.ask(keep("first"))
    const ids = Array.from({ length: 20 }, (_, n) => wire.send(keep(`in flight ${n}`)))
    await home.kill()
    for (const id of ids) await wire.answerTo(id)
    const load = { name: "init", arguments: { operation: "load_context", sessionId: session.id } }
    const { thoughts } = result(await wire.ask(load))
    const texts = thoughts.map((kept: { thought: string }) => kept.thought)
    expect(texts.toSorted()).toEqual(["first", ...ids.map((_, n) => `in flight ${n}`)].toSorted())
  })
})

// biome-ignore lint/suspicious/noExplicitAny: whatever the tool answers
const result = (line: string): any => JSON.parse(line).result.structuredContent

type Wire = Awaited<ReturnType<typeof openWire>>

/** MCP as it goes over the wire: the SDK's client would not send so many at once and go on without the daemon. */
async function openWire(era: Era) {
  const child = spawnCli(home, ["mcp"], { cwd: project })
  const answers = new Map<number, string>()
  const waiting = new Map<number, () => void>()
  let lastId = 0
  lines(child.stdout, (bytes) => {
    const line = bytes.toString("utf8")
    const { id } = JSON.parse(line) as { id: number }
    answers.set(id, line)
    waiting.get(id)?.()
  })
  const write = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const send = (params: Record<string, unknown> & { _meta?: object }, id = ++lastId) => {
    const meta = { ...(era === "modern" ? ENVELOPE : {}), ...params._meta }
    write({ id, method: "tools/call", params: { ...params, ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}) } })
    return id
  }
  const answerTo = async (id: number) => {
    if (!answers.has(id)) await new Promise<void>((resolve) => waiting.set(id, resolve))
    return answers.get(id)!.replace(/"id":\d+/, '"id":0')
  }
  const wire = {
    send,
    answerTo,
    ask: (params: Record<string, unknown>) => answerTo(send(params)),
    notify: (method: string, params: object) =>
      write({ method, params: { ...params, ...(era === "modern" ? { _meta: ENVELOPE } : {}) } }),
    close: () => child.kill(),
  }
  if (era === "legacy") {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
    write({ id: ++lastId, method: "initialize", params })
    await answerTo(lastId)
    wire.notify("notifications/initialized", {})
  }
  return wire
}
