import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup, FileEdit, Program } from "../../domain/setup.ts"
import { readText } from "../shared/setup/files.ts"
import { readCommon } from "../shared/setup/hooks.ts"
import { editJson, type JsonFile } from "../shared/setup/json.ts"
import { removeServer, SERVER, setVariables } from "../shared/setup/mcp.ts"

const PLATFORM = "opencode"
const EVENTS = ["session.created", "session.idle", "session.compacted", "session.deleted"]

const folder = ({ homeDir, env }: Machine) =>
  env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(homeDir, ".config"), "opencode")
const plugin = (machine: Machine) => join(folder(machine), "plugins", "throughline.js")

/** The existing file, or the plain one. */
function config(machine: Machine): string {
  const [withComments, plain] = ["opencode.jsonc", "opencode.json"].map((name) => join(folder(machine), name))
  return existsSync(withComments!) ? withComments! : plain!
}

export const opencode: AgentSetup = {
  platform: PLATFORM,
  label: "opencode",
  folder,
  plan: (machine, program) => [
    ...editJson(config(machine), "MCP server throughline", (file) => addLocal(file, program)),
    ...writePlugin(machine, program),
  ],
  remove: (machine) => [
    ...editJson(config(machine), "without the MCP server", (file) => removeServer(file, "mcp")),
    ...removePlugin(machine),
  ],
  // The plugin adds it to the conversation unchanged.
  startContext: (text) => text,
  promptContext: (text) => text,
  read(payload, env) {
    const event = readCommon(payload, env)
    const { parent_id: parent, unattended } = payload
    return {
      ...event,
      ...(unattended === true ? { details: { ...event.details, unattended: "true" } } : {}),
      ...(event.name === "session.created" ? { start: "startup" } : {}),
      ...(event.name === "session.deleted" ? { end: "deleted" } : {}),
      ...(typeof parent === "string" ? { parent: { sessionId: parent, kind: "subagent" as const } } : {}),
    }
  },
}

/** opencode's own form: program and arguments in one list. */
function addLocal(file: JsonFile, { node, entry, env }: Program): void {
  const path = ["mcp", SERVER]
  file.object(["mcp"])
  const before = file.object(path)
  const words = Array.isArray(before.command) ? (before.command as unknown[]) : []
  const command = [node, entry, ...(words[2] === "mcp" ? words.slice(2) : ["mcp"])]
  if (file.at(path) === undefined) {
    const environment = Object.keys(env).length > 0 ? { environment: env } : {}
    file.set(path, { type: "local", command, enabled: true, ...environment })
  } else {
    if (JSON.stringify(words) !== JSON.stringify(command)) file.set([...path, "command"], command)
    setVariables(file, [...path, "environment"], env)
  }
}

/** Longer than the hook may take; a hanging hook must not block the prompt. */
const MOST_WAIT_MS = 4_000

const MARK = "// Written by `throughline setup`; `throughline unsetup opencode` deletes it."

function writePlugin(machine: Machine, { hook }: Program): FileEdit[] {
  const path = plugin(machine)
  const before = readText(path)
  const after = pluginText(hook)
  return before === after ? [] : [{ path, before, after, summary: `a plugin for ${EVENTS.length} events` }]
}

function removePlugin(machine: Machine): FileEdit[] {
  const path = plugin(machine)
  const before = readText(path)
  return before?.startsWith(MARK) ? [{ path, before, after: null, summary: "without the plugin" }] : []
}

/**
 * Runs inside opencode and must not throw. It only waits for the context of a prompt. Version 1 calls `server` of the default
 * export, and before 1.18.29 every exported function; version 2 calls `setup` and refuses a file without one.
 */
function pluginText(hook: string): string {
  return `${MARK}
import { spawn } from "node:child_process"

const EVENTS = ${JSON.stringify(EVENTS)}

// Version 2 has other names for some of them.
const NAMES = {
  "session.execution.succeeded": "session.idle",
  "session.execution.failed": "session.idle",
  "session.execution.interrupted": "session.idle",
  "session.compaction.ended": "session.compacted",
}

// \`opencode run\` answers one prompt, and nobody sits at it.
const words = process.argv.slice(2)
const command = words.find((word, at) => !word.startsWith("-") && words[at - 1] !== "--log-level")
const who = command === "run" ? { unattended: true } : {}

// Resolves with what the hook prints.
const run = (said) =>
  new Promise((resolve) => {
    const child = spawn(${JSON.stringify(hook)}, ["${PLATFORM}"], { stdio: ["pipe", "pipe", "ignore"], detached: true })
    let printed = ""
    child.stdout.setEncoding("utf8").on("data", (text) => (printed += text))
    child.on("error", () => resolve(""))
    child.on("close", () => resolve(printed.trim()))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ ...said, ...who }))
    child.unref()
    setTimeout(() => resolve(""), ${MOST_WAIT_MS}).unref()
  })

const tell = ({ type, properties, data = properties ?? {} }, directory, begun) => {
  const name = NAMES[type] ?? type
  if (!EVENTS.includes(name)) return
  const { info, sessionID = info?.id, parentID = info?.parentID, location } = data
  const cwd = location?.directory ?? directory
  const told = run({ hook_event_name: name, session_id: sessionID, parent_id: parentID, cwd })
  // Sub-agents are told by their parents.
  if (name === "session.created" && !parentID) begun?.set(sessionID, told)
}

// Synthetic parts are not shown and not taken for the user's words. opencode orders parts by their id.
const addContext = (context, { sessionID }, { message, parts }) => {
  if (context === "" || parts.length === 0) return
  const inside = context.replaceAll(/<(?=\\/?hook_context)/g, "&lt;")
  const text = "<hook_context>\\nFrom earlier sessions; not what this conversation is about.\\n\\n" + inside + "\\n</hook_context>"
  const id = parts.at(-1).id + "0"
  parts.push({ id, sessionID, messageID: message.id, type: "text", synthetic: true, text })
}

const server = async ({ directory }) => {
  // A daemon that was killed is up again by the time of the first prompt.
  run({ hook_event_name: "plugin.loaded", cwd: directory })
  // What sessions that have begun are told, until their first prompt takes it.
  const begun = new Map()
  return {
    event: async ({ event }) => tell(event, directory, begun),
    "chat.message": async (input, output) => {
      const { sessionID } = input
      const told = begun.get(sessionID)
      begun.delete(sessionID)
      try {
        // A start that no daemon heard is answered at a prompt; the order of the two is kept.
        const started = await told
        const prompted = await run({ hook_event_name: "chat.message", session_id: sessionID, cwd: directory })
        addContext(started || prompted, input, output)
      } catch {}
    },
  }
}

const setup = async (ctx) => {
  const over = new AbortController()
  const listen = async () => {
    for await (const event of ctx.event.subscribe({ signal: over.signal })) {
      if (over.signal.aborted) return
      // It hears of every folder, and is set up once for each.
      const [own, other] = [ctx.location?.directory, event.location?.directory]
      if (own === undefined || other === undefined || own === other) tell(event, other ?? own)
    }
  }
  listen().catch(() => {})
  return () => over.abort()
}

export default { id: "throughline", server, setup }
`
}
