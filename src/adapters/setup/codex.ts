import { open } from "node:fs/promises"
import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup, Program } from "../../domain/setup.ts"
import { addGrouped, contextAtStart, hookCommand, readCommon, removeGrouped } from "./shared/hooks.ts"
import { editStrictJson } from "./shared/json.ts"
import { SERVER } from "./shared/mcp.ts"
import { removeTable, setTable, type TomlTable } from "./shared/toml.ts"

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
      (file) =>
        addGrouped(
          file,
          EVENTS,
          { type: "command", command: hookCommand(program, PLATFORM), timeout: TIMEOUT_S },
          program,
        ),
    ),
    ...setTable(config(machine), server, (there) => serverOf(program, there), "MCP server throughline"),
  ],
  remove: (machine, program) => [
    ...editStrictJson(hooks(machine), "without our hooks", (file) => removeGrouped(file, program)),
    ...removeTable(config(machine), server, "without the MCP server"),
  ],
  afterwards:
    "Codex runs no hook that you have not trusted, and says nothing about it when it runs without a terminal. " +
    "Start `codex` once and trust Throughline's hooks in the review that it opens (later: /hooks).",
  greeting: contextAtStart,
  read: readCommon,
  async isUnattended({ transcripts: [path] }) {
    if (path === undefined) return false
    // Within a string its quotes would be escaped.
    return (await beginningOf(path)).includes('"source":"exec"')
  },
}

/** Who made a session stands in its first record, before the long instructions. */
const META_BYTES = 4_096

async function beginningOf(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(META_BYTES), position: 0 })
    return buffer.toString("utf8", 0, bytesRead)
  } catch {
    return ""
  }
}

function serverOf({ node, entry, env }: Program, { args, env: given }: Record<string, unknown>) {
  const words = Array.isArray(args) ? (args as unknown[]) : []
  return {
    command: node,
    args: [entry, ...(words[1] === "mcp" ? words.slice(1) : ["mcp"])],
    ...(Object.keys(env).length === 0 ? {} : { env: { ...(given as object | undefined), ...env } }),
  }
}
