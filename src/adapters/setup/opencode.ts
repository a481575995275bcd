import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup, FileEdit, Program } from "../../domain/setup.ts"
import { readText } from "./shared/files.ts"
import { readCommon } from "./shared/hooks.ts"
import { editJson, type JsonFile } from "./shared/json.ts"
import { removeServer, SERVER, setVariables } from "./shared/mcp.ts"

const PLATFORM = "opencode"
const EVENTS = ["session.created", "session.idle", "session.compacted", "session.deleted"]

const folder = ({ homeDir, env }: Machine) =>
  env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(homeDir, ".config"), "opencode")
const plugin = (machine: Machine) => join(folder(machine), "plugins", "throughline.js")

/** The one that is there; the plain one otherwise. */
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
  read(payload, env) {
    const event = readCommon(payload, env)
    const { parent_id: parent } = payload
    return {
      ...event,
      ...(event.name === "session.created" ? { start: "startup" } : {}),
      ...(event.name === "session.deleted" ? { end: "deleted" } : {}),
      ...(typeof parent === "string" ? { parent: { sessionId: parent, kind: "subagent" as const } } : {}),
    }
  },
}

/** opencode's own form: program and arguments are one list. */
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

/** Runs beside the agent and waits for nothing; what goes wrong in it stays in it. */
function pluginText(hook: string): string {
  return `${MARK}
import { spawn } from "node:child_process"

const EVENTS = ${JSON.stringify(EVENTS)}

export const Throughline = async ({ directory }) => ({
  event: async ({ event }) => {
    if (!EVENTS.includes(event.type)) return
    const { info, sessionID = info?.id } = event.properties
    const said = { hook_event_name: event.type, session_id: sessionID, parent_id: info?.parentID, cwd: directory }
    const child = spawn(${JSON.stringify(hook)}, ["${PLATFORM}"], { stdio: ["pipe", "ignore", "ignore"], detached: true })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(said))
    child.unref()
  },
})
`
}
