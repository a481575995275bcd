import { realpathSync } from "node:fs"
import { join } from "node:path"
import { parse } from "smol-toml"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup, Program } from "../../domain/setup.ts"
import { firstBytes } from "../../lib/untrusted-file.ts"
import { readText } from "../shared/setup/files.ts"
import { addHooks, contextAt, hookCommand, readCommon, removeHooks } from "../shared/setup/hooks.ts"
import { editStrictJson } from "../shared/setup/json.ts"
import { SERVER } from "../shared/setup/mcp.ts"
import { removeTable, setTable, type TomlTable } from "../shared/setup/toml.ts"

const PLATFORM = "codex"
const EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PostToolUse",
  "Stop",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "SessionEnd",
]
const TIMEOUT_S = 3

const folder = ({ homeDir, env }: Machine) => env.CODEX_HOME || join(homeDir, ".codex")
const hooks = (machine: Machine) => join(folder(machine), "hooks.json")
const config = (machine: Machine) => join(folder(machine), "config.toml")
const server: TomlTable = {
  path: ["mcp_servers", SERVER],
  comment: "Added by `throughline setup`; `throughline unsetup codex` takes it out.",
}

export const codex: AgentSetup = {
  platform: PLATFORM,
  label: "Codex",
  folder,
  plan: (machine, program) => [
    ...editStrictJson(
      hooks(machine),
      `hooks for ${EVENTS.length} events, which Codex runs once you trust them`,
      (file) => {
        const command = hookCommand(program, PLATFORM)
        addHooks(file, EVENTS, { type: "command", command, timeout: TIMEOUT_S }, program)
      },
    ),
    ...setTable(config(machine), server, (there) => serverOf(program, there), "MCP server throughline"),
  ],
  remove: (machine, program) => [
    ...editStrictJson(hooks(machine), "without our hooks", (file) => removeHooks(file, program)),
    ...removeTable(config(machine), server, "without the MCP server"),
  ],
  canAllowTools: true,
  awaits: untrusted,
  afterwards:
    "Codex runs no hook that you have not trusted, and says nothing about it when it runs without a terminal. " +
    "Start `codex` once and trust Throughline's hooks in the review that it opens (later: /hooks).",
  startContext: contextAt("SessionStart"),
  promptContext: contextAt("UserPromptSubmit"),
  read: readCommon,
  async isUnattended({ transcripts: [path] }) {
    if (path === undefined) return false
    // Inside a string the quotes would be escaped.
    return (await beginningOf(path)).includes('"source":"exec"')
  },
}

/** The first record names the session's source, before the long instructions. */
const META_BYTES = 4_096

async function beginningOf(path: string): Promise<string> {
  try {
    return firstBytes(path, META_BYTES).toString("utf8")
  } catch {
    return ""
  }
}

/** Codex names each handler by file, event and position, and stores hashes of trusted ones. */
function untrusted(machine: Machine, { hook }: Program): string | undefined {
  const path = hooks(machine)
  try {
    const { hooks: events = {} } = JSON.parse(readText(path) ?? "{}") as { hooks?: Record<string, Group[]> }
    const trusted = ((parse(readText(config(machine)) ?? "") as Trust).hooks?.state ?? {}) as Record<string, unknown>
    const isTrusted = Object.entries(events).every(([event, groups]) =>
      groups.every(({ hooks: handlers = [] }, group) =>
        handlers.every(({ command = "" }, at) => {
          const name = `:${event.replaceAll(/(?<=.)[A-Z]/g, "_$&").toLowerCase()}:${group}:${at}`
          const isKnown = [path, realPath(path)].some((file) => `${file}${name}` in trusted)
          return !command.includes(hook) || isKnown
        }),
      ),
    )
    return isTrusted ? undefined : "hooks not trusted"
  } catch {
    return undefined
  }
}

interface Group {
  hooks?: { command?: string }[]
}
interface Trust {
  hooks?: { state?: unknown }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function serverOf({ node, entry, env, allowTools }: Program, { args, env: given }: Record<string, unknown>) {
  const words = Array.isArray(args) ? (args as unknown[]) : []
  return {
    command: node,
    args: [entry, ...(words[1] === "mcp" ? words.slice(1) : ["mcp"])],
    ...(Object.keys(env).length === 0 ? {} : { env: { ...(given as object | undefined), ...env } }),
    ...(allowTools && { default_tools_approval_mode: "approve" }),
  }
}
