import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { parseJSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import type { Caller } from "../../domain/caller.ts"
import type { ToolSet } from "../../operations/operation.ts"
import { lines } from "../cli/lines.ts"
import { callerFrom } from "../http/caller-header.ts"
import { CALLER_HEADER, MAX_BODY_BYTES, STREAM_PATH, TOOLS_HEADER } from "../http/client.ts"
import { type ClientState, type McpOptions, type McpTools, mcpServer, mcpTools } from "./mcp.ts"
import { blamingParams, malformedHello } from "./mcp-errors.ts"

/** The daemon's end of `throughline mcp`: lines of MCP over an upgraded connection of the unix socket. */
export function mcpStreams(options: McpOptions & { onOpen?(caller: Caller): void }) {
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
      const caller = attempt((): Caller => ({ ...callerFrom(header(request, CALLER_HEADER)), surface: "mcp" }))
      // An exception here would crash the daemon: nothing catches it above.
      if (!caller) return socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
      options.onOpen?.(caller)
      const tools = toolsOf(header(request, TOOLS_HEADER) ?? "")
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: mcp\r\n\r\n")
      open.add(socket)
      const { transport, send, receive } = transportOf(socket)
      const heard: ClientState = {}
      const served = serveStdio(() => mcpServer(options, tools, caller, heard), { transport })
      const onLine = (line: Buffer) => {
        const message = attempt<unknown>(() => JSON.parse(line.toString("utf8")))
        const wrong = malformedHello(message)
        if (wrong) send(`${JSON.stringify(wrong)}\n`)
        else receive(message)
      }
      // The relay blocks larger lines.
      lines(socket, onLine, MAX_BODY_BYTES)
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

/** An SDK transport over the socket's lines. */
function transportOf(socket: Duplex) {
  const send = (line: string) => {
    if (!socket.destroyed) socket.write(line)
  }
  const transport: Transport = {
    start: async () => {},
    send: async (message) => send(serializeMessage(blamingParams(message))),
    async close() {
      transport.onclose?.()
    },
  }
  const receive = (message: unknown) => {
    try {
      transport.onmessage?.(parseJSONRPCMessage(message))
    } catch (error) {
      transport.onerror?.(error as Error)
      // The SDK drops it, and the client would wait forever.
      const id = requestId(message)
      if (id !== undefined) send(`${JSON.stringify({ jsonrpc: "2.0", id, error: INVALID_REQUEST })}\n`)
    }
  }
  return { transport, send, receive }
}

const INVALID_REQUEST = { code: -32_600, message: "this is not a valid JSON-RPC request" }

/** The id of a request, however malformed the rest is; answers have no method. */
function requestId(message: unknown): string | number | undefined {
  const { id, method } = (message ?? {}) as { id?: unknown; method?: unknown }
  if (method === undefined) return undefined
  return typeof id === "string" || Number.isSafeInteger(id) ? (id as string | number) : undefined
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
