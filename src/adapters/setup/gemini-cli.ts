import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup } from "../../domain/setup.ts"
import { addGrouped, contextAtStart, hookCommand, readCommon, removeGrouped } from "./shared/hooks.ts"
import { editJson } from "./shared/json.ts"
import { addServer, removeServer } from "./shared/mcp.ts"

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
      addGrouped(file, EVENTS, { name: "throughline", type: "command", command, timeout: TIMEOUT_MS }, program)
      addServer(file, "mcpServers", program)
    }),
  remove: (machine, program) =>
    editJson(settings(machine), "without our hooks and MCP server", (file) => {
      removeGrouped(file, program)
      removeServer(file, "mcpServers")
    }),
  greeting: contextAtStart,
  read: readCommon,
}
