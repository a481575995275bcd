import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio"
import type { ToolSet } from "../operations/operation.ts"
import { CALLER_HEADER, TOOLS_HEADER } from "./client.ts"
import { callerFrom } from "./http.ts"
import { MAX_BODY_BYTES } from "./limits.ts"
import { type McpOptions, type McpTools, mcpServer, mcpTools } from "./mcp.ts"
import { STREAM_PATH } from "./paths.ts"

/** The daemon's end of `throughline mcp`: lines of MCP over an upgraded connection of the unix socket. */
export function mcpStreams(options: McpOptions) {
  const open = new Set<Duplex>()
  const toolsBySets = new Map<string, McpTools>()
  const toolsOf = (sets: string) => {
    const known = toolsBySets.get(sets)
    if (known) return known
    const made = mcpTools({ ...options, ...(sets === "" ? {} : { toolSets: sets.split(",") as ToolSet[] }) })
    toolsBySets.set(sets, made)
    return made
  }
  return {
    onUpgrade(request: IncomingMessage, socket: Duplex) {
      socket.on("error", () => socket.destroy())
      if (request.url !== STREAM_PATH) return socket.end("HTTP/1.1 404 Not Found\r\n\r\n")
      const caller = attempt(() => callerFrom(header(request, CALLER_HEADER)))
      // Thrown here, it would end the daemon: nobody stands above this listener.
      if (!caller) return socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
      const tools = toolsOf(header(request, TOOLS_HEADER) ?? "")
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mcp\r\n\r\n")
      open.add(socket)
      // The buffer may hold the end of one message and the beginning of the next; the relay lets no single one be larger.
      const transport = new StdioServerTransport(socket, socket, { maxBufferSize: 2 * MAX_BODY_BYTES })
      const served = serveStdio(() => mcpServer(options, tools, caller), { transport })
      socket.once("close", () => {
        open.delete(socket)
        void served.close()
      })
    },
    close() {
      for (const socket of open) socket.destroy()
    },
  }
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
