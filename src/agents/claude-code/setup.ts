import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import type { AgentSetup, Program } from "../../domain/setup.ts"
import { addHooks, contextAt, hookCommand, readCommon, removeHooks } from "../shared/setup/hooks.ts"
import { editStrictJson, type JsonFile } from "../shared/setup/json.ts"
import { addServer, removeServer } from "../shared/setup/mcp.ts"
import { claudeAsking } from "./setup-asking.ts"

const PLATFORM = "claude-code"
const EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PostToolUse",
  "PostToolUseFailure",
  "Stop",
  "StopFailure",
  "SubagentStop",
  "PreCompact",
  "PostCompact",
  "SessionEnd",
  "Notification",
]
const TIMEOUT_S = 5
/** After these the session is idle: a background hook waits to wake it. */
const WAITED = ["SessionStart", "Stop"]
/** A hook that times out leaves a session that cannot be woken until its next turn. */
const WAIT_TIMEOUT_S = 7 * 24 * 60 * 60

/** Events that ask a person, who may answer outside of the terminal. */
const ASKED = ["PermissionRequest", "Elicitation"]
/** Longer than any wait: a hook that times out leaves the question to the terminal. */
const ASK_TIMEOUT_S = WAIT_TIMEOUT_S + 60 * 60

const folder = ({ homeDir, env }: Machine) => env.CLAUDE_CONFIG_DIR || join(homeDir, ".claude")
const settings = (machine: Machine) => join(folder(machine), "settings.json")
/** Beside the folder, or inside it if CLAUDE_CONFIG_DIR chose it. */
const state = ({ homeDir, env }: Machine) => join(env.CLAUDE_CONFIG_DIR || homeDir, ".claude.json")

const handler = (program: Program, timeout: number, mode?: "wait" | "ask") => ({
  type: "command",
  command: hookCommand(program, PLATFORM, mode),
  timeout,
})

/** All tools of our server only. */
const RULE = "mcp__throughline"
const RULES = ["permissions", "allow"]

function allowTools(file: JsonFile): void {
  file.object(["permissions"])
  if (!file.array(RULES).includes(RULE)) file.append(RULES, RULE)
}

function disallowTools(file: JsonFile): void {
  const rules = file.at(RULES)
  const at = Array.isArray(rules) ? rules.indexOf(RULE) : -1
  if (at < 0) return
  file.remove([...RULES, at])
  file.removeIfEmpty(RULES)
  file.removeIfEmpty(["permissions"])
}

export const claudeCode: AgentSetup = {
  platform: PLATFORM,
  label: "Claude Code",
  folder,
  plan: (machine, program) => [
    ...editStrictJson(settings(machine), `hooks for ${EVENTS.length + ASKED.length} events`, (file) => {
      addHooks(file, EVENTS, handler(program, TIMEOUT_S), program)
      addHooks(file, WAITED, { ...handler(program, WAIT_TIMEOUT_S, "wait"), asyncRewake: true }, program)
      addHooks(file, ASKED, handler(program, ASK_TIMEOUT_S, "ask"), program)
      if (program.allowTools) allowTools(file)
    }),
    ...editStrictJson(state(machine), "MCP server throughline, for all projects", (file) =>
      addServer(file, "mcpServers", program, { type: "stdio" }),
    ),
  ],
  remove: (machine, program) => [
    ...editStrictJson(settings(machine), "without our hooks", (file) => {
      removeHooks(file, program)
      disallowTools(file)
    }),
    ...editStrictJson(state(machine), "without the MCP server", (file) => removeServer(file, "mcpServers")),
  ],
  canAllowTools: true,
  startContext: contextAt("SessionStart"),
  promptContext: contextAt("UserPromptSubmit"),
  turnContext: contextAt("Stop"),
  asking: claudeAsking,
  read(payload, env) {
    const event = readCommon(payload, env)
    const pid = Number(env.CLAUDE_PID)
    return pid > 0 ? { ...event, pid } : event
  },
}
