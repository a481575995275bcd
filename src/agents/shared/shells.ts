interface AgentShell {
  /** Set in the shells that the agent runs commands in, and in nobody else's. */
  variables?: readonly string[]
  /** Other variables for its child processes. */
  inherited?: readonly string[]
  /** Names of its program. */
  programs?: readonly string[]
}

/**
 * How to recognise a shell or process of each agent, also of agents whose files are not read. Apart from the agents' own
 * folders because every command needs this, and must not load readers and drivers for it.
 */
const SHELLS: Readonly<Record<string, AgentShell>> = {
  "claude-code": {
    variables: ["CLAUDECODE"],
    inherited: [
      "CLAUDE_CODE_ENTRYPOINT",
      "CLAUDE_CODE_SESSION_ID",
      "CLAUDE_CODE_CHILD_SESSION",
      "CLAUDE_CODE_EXECPATH",
      "CLAUDE_CODE_SSE_PORT",
      "CLAUDE_AGENT_SDK_VERSION",
      "CLAUDE_PROJECT_DIR",
      "CLAUDE_ENV_FILE",
      "CLAUDE_PID",
    ],
    programs: ["claude"],
  },
  codex: {
    variables: ["CODEX_SANDBOX", "CODEX_THREAD_ID"],
    inherited: ["CODEX_SANDBOX_NETWORK_DISABLED"],
    programs: ["codex"],
  },
  "gemini-cli": {
    variables: ["GEMINI_CLI"],
    inherited: ["GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR"],
    programs: ["gemini"],
  },
  opencode: { variables: ["OPENCODE"], inherited: ["OPENCODE_PID"], programs: ["opencode"] },
  kilo: { variables: ["KILO"], inherited: ["KILO_PID"], programs: ["kilo", "kilocode"] },
  cursor: { variables: ["CURSOR_AGENT"], inherited: ["CURSOR_PROJECT_DIR"], programs: ["cursor-agent"] },
  "copilot-cli": { variables: ["COPILOT_CLI"], programs: ["copilot"] },
  cline: { variables: ["CLINE_ACTIVE"], programs: ["cline"] },
  roo: { variables: ["ROO_ACTIVE"] },
  antigravity: { variables: ["ANTIGRAVITY_AGENT"], programs: ["agy"] },
  aider: { programs: ["aider"] },
  goose: { variables: ["GOOSE_TERMINAL"], programs: ["goose"] },
  "qwen-code": { variables: ["QWEN_CODE"], programs: ["qwen"] },
  amp: { programs: ["amp"] },
  // Shared by several agents, so the last resort.
  AI_AGENT: { variables: ["AI_AGENT"] },
}

const byName = (field: "variables" | "programs"): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(SHELLS).flatMap(([agent, shell]) => (shell[field] ?? []).map((name) => [name, agent])),
  )

/** The agent of each variable that marks a shell as an agent's. */
export const AGENT_VARIABLES = byName("variables")

/** The agent of each program name. */
export const AGENT_PROGRAMS = byName("programs")

/**
 * All variables that agents set for programs that they run. If the daemon was started inside an agent, agents that it starts
 * would take themselves for a part of that one. User settings such as CLAUDE_CONFIG_DIR are not among them.
 */
export const OF_OUTER_AGENTS: ReadonlySet<string> = new Set(
  Object.values(SHELLS).flatMap(({ variables = [], inherited = [] }) => [...variables, ...inherited]),
)
