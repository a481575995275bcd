import type { KnownClient } from "../domain/clients.ts"

/** MCP clients that are no agent whose files are read, and call themselves something that people do not. */
export const knownClients: readonly KnownClient[] = [
  // The desktop app and the web site share the second name.
  { label: "claude.ai", clientNames: ["Anthropic/ClaudeAI", "claude-ai"] },
  { label: "ChatGPT", clientNames: ["openai-mcp", "ChatGPT"] },
  { label: "Windsurf", clientNames: ["windsurf-client", "Windsurf"] },
]
