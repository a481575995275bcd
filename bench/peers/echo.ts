import { fdatasyncSync, mkdtempSync, openSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
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
  // The floor of a write that is acknowledged only when it is on the disk.
  server.registerTool("keep", config, async ({ text }) => {
    writeSync(file, text)
    fdatasyncSync(file)
    return { content: [{ type: "text", text }], structuredContent: { text } }
  })
  return server
}

const file = openSync(join(mkdtempSync(join(tmpdir(), "echo-")), "kept"), "a")
