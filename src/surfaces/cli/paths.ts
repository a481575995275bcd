/** The upgrade path for an agent's stream of MCP lines. */
export const STREAM_PATH = "/mcp-stream"
