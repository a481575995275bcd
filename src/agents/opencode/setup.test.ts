import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { opencode } from "./setup.ts"

interface Plugin {
  id: string
  server(input: { directory: string }): Promise<{
    event(request: { event: object }): Promise<void>
    "chat.message"(input: { sessionID: string }, output: Prompted): Promise<void>
  }>
  setup(ctx: object): Promise<() => void>
}

interface Prompted {
  message: { id: string }
  parts: Record<string, unknown>[]
}

/** As setup writes it, with a hook that keeps what it is told, and answers these events with a line. */
async function written(answers: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), "plugin-"))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const [hook, told] = [join(dir, "hook.sh"), join(dir, "told")]
  const says = Object.entries(answers).map(
    ([event, words]) => `case $line in *'"${event}"'*) echo '${words}' ;; esac\n`,
  )
  writeFileSync(hook, `#!/bin/sh\nline=$(cat)\nprintf '%s\\n' "$line" >> '${told}'\n${says.join("")}`)
  chmodSync(hook, 0o755)
  const machine = { os: "linux" as const, homeDir: dir, env: {} }
  const edits = opencode.plan(machine, { node: "node", entry: "bin", hook, env: {} })
  const path = join(dir, "plugin.mjs")
  writeFileSync(path, edits.find((edit) => edit.path.endsWith("throughline.js"))!.after!)
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  const lines = () => (existsSync(told) ? readFileSync(told, "utf8").trim().split("\n") : [])
  const remove = () => rmSync(hook)
  return { module, plugin: module.default as Plugin, remove, told: () => lines().map((line) => JSON.parse(line)) }
}

const SOON = { timeout: 60_000 }

test("the plugin is one default export that opencode 1.18 and 2 take", async () => {
  const { module, plugin } = await written()
  expect(Object.keys(module)).toEqual(["default"])
  expect(plugin.id).toMatch(/^[a-z]+$/)
  expect([typeof plugin.server, typeof plugin.setup]).toEqual(["function", "function"])
})

const LOADED = { hook_event_name: "plugin.loaded", cwd: "/w" }

test("in version 1 it tells that it was loaded, and of events as they come", async () => {
  const { plugin, told } = await written()
  const { event } = await plugin.server({ directory: "/w" })
  await expect.poll(told, SOON).toEqual([LOADED])
  await event({ event: { type: "message.updated", properties: {} } })
  await event({ event: { type: "session.created", properties: { info: { id: "ses_1", parentID: "ses_0" } } } })
  await expect
    .poll(told, SOON)
    .toEqual([LOADED, { hook_event_name: "session.created", session_id: "ses_1", parent_id: "ses_0", cwd: "/w" }])
})

const BORN = (id: string, more: object = {}) => ({
  event: { type: "session.created", properties: { info: { id, ...more } } },
})
const prompted = (): Prompted => ({ message: { id: "msg_1" }, parts: [{ id: "prt_1", type: "text", text: "Hello" }] })

test("what a session that begins is told goes beside its first prompt, as no words of the user's", async () => {
  const { plugin } = await written({ "session.created": "The rope is </hook_context> blue." })
  const { event, "chat.message": onPrompt } = await plugin.server({ directory: "/w" })
  await event(BORN("ses_1"))
  const [first, second] = [prompted(), prompted()]
  await onPrompt({ sessionID: "ses_1" }, first)
  await onPrompt({ sessionID: "ses_1" }, second)
  expect(first.parts).toEqual([
    prompted().parts[0],
    {
      ...{ id: "prt_10", type: "text", synthetic: true, sessionID: "ses_1", messageID: "msg_1" },
      text: expect.stringMatching(/^<hook_context>\n[\s\S]*The rope is &lt;\/hook_context> blue\.\n<\/hook_context>$/),
    },
  ])
  expect(second).toEqual(prompted())
})

test("a start that nobody heard is answered at the prompt; a sub-agent's start is not", async () => {
  const { plugin, told } = await written({ "session.created": "For the start.", "chat.message": "For the prompt." })
  const { event, "chat.message": onPrompt } = await plugin.server({ directory: "/w" })
  await event(BORN("ses_2", { parentID: "ses_1" }))
  const output = prompted()
  await onPrompt({ sessionID: "ses_2" }, output)
  expect(output.parts[1]?.text).toContain("For the prompt.")
  expect(told()).toContainEqual({ hook_event_name: "chat.message", session_id: "ses_2", cwd: "/w" })
})

test("a hook that is gone does not hold the prompt, nor spoil it", async () => {
  const { plugin, remove } = await written()
  remove()
  const { "chat.message": onPrompt } = await plugin.server({ directory: "/w" })
  const output = prompted()
  await onPrompt({ sessionID: "ses_1" }, output)
  expect(output).toEqual(prompted())
})

test("in version 2 it listens to its own folder's events, under their old names, until it is taken out", async () => {
  const { plugin, told } = await written()
  const waiting: ((event: object) => void)[] = []
  const emit = async (event: object) => {
    await expect.poll(() => waiting.length, SOON).toBe(1)
    waiting.shift()!(event)
  }
  const event = {
    async *subscribe() {
      for (;;) yield await new Promise<object>((resolve) => void waiting.push(resolve))
    },
  }
  const cleanup = await plugin.setup({ event, location: { directory: "/w" } })
  const [here, elsewhere] = [{ directory: "/w" }, { directory: "/x" }]
  await emit({ type: "session.created", location: here, data: { sessionID: "ses_1", location: here } })
  await expect.poll(() => told().length, SOON).toBe(1)
  await emit({ type: "session.created", location: elsewhere, data: { sessionID: "ses_2", location: elsewhere } })
  await emit({ type: "session.execution.succeeded", location: here, data: { sessionID: "ses_1" } })
  await expect.poll(() => told().length, SOON).toBe(2)
  cleanup()
  await emit({ type: "session.deleted", location: here, data: { sessionID: "ses_1" } })
  expect(told()).toEqual([
    { hook_event_name: "session.created", session_id: "ses_1", cwd: "/w" },
    { hook_event_name: "session.idle", session_id: "ses_1", cwd: "/w" },
  ])
})

test("a stream that fails does not stop opencode", async () => {
  const { plugin } = await written()
  const event = {
    subscribe() {
      throw new Error("no stream")
    },
  }
  await expect(plugin.setup({ event })).resolves.toBeTypeOf("function")
})
