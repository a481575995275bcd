/** What agents set in the shells that they run commands in, and which agent each is. The last one is shared by several. */
export const AGENT_SHELLS: Readonly<Record<string, string>> = {
  CLAUDECODE: "claude-code",
  CODEX_SANDBOX: "codex",
  CODEX_THREAD_ID: "codex",
  GEMINI_CLI: "gemini-cli",
  OPENCODE: "opencode",
  KILO: "kilo",
  CURSOR_AGENT: "cursor",
  COPILOT_CLI: "copilot-cli",
  CLINE_ACTIVE: "cline",
  ROO_ACTIVE: "roo",
  ANTIGRAVITY_AGENT: "antigravity",
  GOOSE_TERMINAL: "goose",
  QWEN_CODE: "qwen-code",
  AI_AGENT: "AI_AGENT",
}
