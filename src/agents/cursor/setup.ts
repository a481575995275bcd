import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup } from "../../domain/setup.ts"
import { shellWord } from "../shared/setup/files.ts"
import { addHooks, readCommon, removeHooks } from "../shared/setup/hooks.ts"
import { editJson } from "../shared/setup/json.ts"
import { addServer, removeServer } from "../shared/setup/mcp.ts"

const PLATFORM = "cursor"
const EVENTS = ["sessionStart", "beforeSubmitPrompt", "postToolUse", "stop", "subagentStop", "preCompact", "sessionEnd"]
const TIMEOUT_S = 5

const folder = ({ homeDir, env }: Machine) => env.CURSOR_CONFIG_DIR || join(homeDir, ".cursor")
const hooks = (machine: Machine) => join(folder(machine), "hooks.json")
const servers = (machine: Machine) => join(folder(machine), "mcp.json")

export const cursor: AgentSetup = {
  platform: PLATFORM,
  label: "Cursor",
  folder,
  plan: (machine, program) => [
    ...editJson(hooks(machine), `hooks for ${EVENTS.length} events`, (file) => {
      if (file.at(["version"]) === undefined) file.set(["version"], 1)
      const handler = { command: `${shellWord(program.hook)} ${PLATFORM}`, timeout: TIMEOUT_S }
      addHooks(file, EVENTS, handler, program, handler)
    }),
    ...editJson(servers(machine), "MCP server throughline", (file) => addServer(file, "mcpServers", program)),
  ],
  remove: (machine, program) => [
    ...editJson(hooks(machine), "without our hooks", (file) => removeHooks(file, program)),
    ...editJson(servers(machine), "without the MCP server", (file) => removeServer(file, "mcpServers")),
  ],
  startContext: (text) => JSON.stringify({ additional_context: text }),
  read(payload, env) {
    const { conversation_id: conversation, workspace_roots: roots } = payload
    const [root] = Array.isArray(roots) ? (roots as unknown[]) : []
    return readCommon(
      {
        ...payload,
        session_id: conversation ?? payload.session_id,
        // Cursor's cwd is the hook's; the open folders say where it works.
        cwd: env.CURSOR_PROJECT_DIR ?? root ?? payload.cwd,
      },
      env,
    )
  },
}
