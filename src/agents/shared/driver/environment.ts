import { AGENT_SHELLS } from "../../../domain/agent-shells.ts"
import type { Machine } from "../../../domain/platform.ts"

/**
 * What an agent tells the programs that run inside it. A daemon that was started from within one has them, and an agent
 * started by us would then take itself for a part of that one: refuse to start, or write under its session.
 * The user's own settings, such as CLAUDE_CONFIG_DIR or CLAUDE_CODE_USE_BEDROCK, are none of these.
 */
const OF_AN_OUTER_AGENT = new Set([
  ...Object.keys(AGENT_SHELLS),
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_EXECPATH",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_AGENT_SDK_VERSION",
  "CLAUDE_PROJECT_DIR",
  "CLAUDE_ENV_FILE",
  "CLAUDE_PID",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "GEMINI_SESSION_ID",
  "GEMINI_PROJECT_DIR",
  "OPENCODE_PID",
  "KILO_PID",
])

/** The user's own environment, as an agent finds it that is started from a shell. */
export function childEnv(machine: Machine, more: Record<string, string> = {}): Record<string, string> {
  const own = Object.entries(machine.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OF_AN_OUTER_AGENT.has(entry[0]),
  )
  return { HOME: machine.homeDir, ...Object.fromEntries(own), ...more }
}
