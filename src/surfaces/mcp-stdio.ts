import { type StdioServerHandle, StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import type { Caller } from "../domain/caller.ts"
import { type McpOptions, mcpServer, mcpTools } from "./mcp.ts"
import { MAX_BODY_BYTES } from "./mcp-http.ts"

/** The protocol is spoken here, in the agent's child process; the work is done by the daemon behind `call`. */
export function mcpStdio(options: McpOptions, caller: Caller): StdioServerHandle {
  const tools = mcpTools(options)
  const transport = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_BODY_BYTES })
  return serveStdio(() => mcpServer(options, tools, caller), { transport })
}
