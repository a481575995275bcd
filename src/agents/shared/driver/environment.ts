import { AGENT_SHELLS } from "../../../domain/agent-shells.ts"
import type { Machine } from "../../../domain/platform.ts"

/**
 * Variables that agents set for programs that they run. If a daemon was started inside an agent, our own agents would inherit
 * them and refuse to start, or write to the outer session. User settings such as CLAUDE_CONFIG_DIR stay.
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

/** The environment that an agent started from the user's shell would have. */
export function childEnv(machine: Machine, more: Record<string, string> = {}): Record<string, string> {
  const own = Object.entries(machine.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !OF_AN_OUTER_AGENT.has(entry[0]),
  )
  return { HOME: machine.homeDir, ...Object.fromEntries(own), ...more }
}
