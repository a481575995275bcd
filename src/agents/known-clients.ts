import type { KnownClient } from "../domain/caller.ts"

/** MCP clients whose files we do not read, and whose names differ from what people call them. */
export const knownClients: readonly KnownClient[] = [
  // The desktop app and the web site share the second name.
  { label: "claude.ai", clientNames: ["Anthropic/ClaudeAI", "claude-ai"] },
  { label: "ChatGPT", clientNames: ["openai-mcp", "ChatGPT"] },
  { label: "Windsurf", clientNames: ["windsurf-client", "Windsurf"] },
]
