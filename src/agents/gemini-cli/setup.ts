import { basename, join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup } from "../../domain/setup.ts"
import { addHooks, contextAt, hookCommand, readCommon, removeHooks } from "../shared/setup/hooks.ts"
import { editJson } from "../shared/setup/json.ts"
import { addServer, removeServer, SERVER } from "../shared/setup/mcp.ts"
import { commandOf, type ProcessCommand } from "./process-command.ts"

const PLATFORM = "gemini-cli"
const EVENTS = ["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "PreCompress", "SessionEnd", "Notification"]
const TIMEOUT_MS = 5_000

const folder = ({ homeDir, env }: Machine) => join(env.GEMINI_CLI_HOME || homeDir, ".gemini")
const settings = (machine: Machine) => join(folder(machine), "settings.json")

export const geminiCli: AgentSetup = {
  platform: PLATFORM,
  label: "Gemini CLI",
  folder,
  plan: (machine, program) =>
    editJson(settings(machine), `hooks for ${EVENTS.length} events, and MCP server throughline`, (file) => {
      const command = hookCommand(program, PLATFORM)
      addHooks(file, EVENTS, { name: "throughline", type: "command", command, timeout: TIMEOUT_MS }, program)
      addServer(file, "mcpServers", program)
      const trust = ["mcpServers", SERVER, "trust"]
      if (program.allowTools && file.at(trust) !== true) file.set(trust, true)
    }),
  canAllowTools: true,
  remove: (machine, program) =>
    editJson(settings(machine), "without our hooks and MCP server", (file) => {
      removeHooks(file, program)
      removeServer(file, "mcpServers")
    }),
  startContext: contextAt("SessionStart"),
  promptContext: contextAt("BeforeAgent"),
  read: readCommon,
  isUnattended: async ({ pid }) => pid !== undefined && isHeadless(await commandOf(pid)),
}

/** Gemini CLI's own rule for headless mode. An editor that drives it by ACP has a person. */
function isHeadless({ words, hasTerminal }: ProcessCommand): boolean {
  const program = words.findIndex((word) => /^gemini(?:\.js|\.exe)?$/.test(basename(word)))
  const flags = words.slice(program + 1)
  if (program < 0 || flags.some((flag) => /^--(?:experimental-)?acp$/.test(flag))) return false
  return hasTerminal === false || flags.some((flag) => /^(?:-p|--prompt)(?:=|$)/.test(flag))
}
