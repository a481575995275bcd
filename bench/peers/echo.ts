import { McpServer } from "@modelcontextprotocol/server"
import * as z from "zod"

export function echoServer(): McpServer {
  const server = new McpServer({ name: "echo", version: "1.0.0" })
  const config = {
    description: "Says it again",
    inputSchema: z.object({ text: z.string() }),
    outputSchema: z.object({ text: z.string() }),
  }
  server.registerTool("echo", config, async ({ text }) => ({
    content: [{ type: "text", text }],
    structuredContent: { text },
  }))
  return server
}
