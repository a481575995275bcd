import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
import { newKey } from "../../domain/ids.ts"
import { HOUR_MS } from "../../lib/time.ts"
import { MAX_BODY_BYTES } from "../http/client.ts"
import { type McpOptions, mcpServer, mcpTools } from "./mcp.ts"
import { blamingParams, malformedHello } from "./mcp-errors.ts"

const IDLE_MS = HOUR_MS
const MAX_SESSIONS = 1000

export interface McpHttp {
  fetch(request: Request): Promise<Response>
  close(): Promise<void>
}

interface Connection {
  server: Server
  transport: WebStandardStreamableHTTPServerTransport
  usedAtMs: number
}

/**
 * Both eras at one address. 2026 clients carry no session. 2025 clients get one, kept in memory: after a restart it is
 * unknown and answered with 404, on which clients start a new one and repeat the call. There is no GET stream: clients
 * that lose one mark the server as gone.
 */
export function mcpHttp(options: McpOptions): McpHttp {
  const tools = mcpTools(options)
  const connections = new Map<string, Connection>()
  const modern = createMcpHandler(() => mcpServer(options, tools, { surface: "mcp", isRemote: true }), {
    legacy: "reject",
    maxRequestBodySize: MAX_BODY_BYTES,
  })

  const open = async (request: Request): Promise<Response> => {
    const body: unknown = await request
      .clone()
      .json()
      .catch(() => undefined)
    const wrong = malformedHello(body)
    if (wrong) return Response.json(wrong, { status: 400 })
    sweep(connections)
    const id = newKey()
    const server = mcpServer(options, tools, { surface: "mcp", isRemote: true, key: `mcp:${id}` })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize: MAX_BODY_BYTES,
      onsessioninitialized: () => {
        connections.set(id, { server, transport, usedAtMs: Date.now() })
      },
      onsessionclosed: () => {
        connections.delete(id)
      },
    })
    const send = transport.send.bind(transport)
    transport.send = (message, sendOptions) => send(blamingParams(message), sendOptions)
    await server.connect(transport)
    const response = await transport.handleRequest(request)
    if (!connections.has(id)) await server.close()
    return response
  }

  return {
    async fetch(request) {
      if (request.method === "GET")
        return refuse(405, "this server opens no stream of its own", { Allow: "POST, DELETE" })
      const id = request.headers.get("mcp-session-id")
      if (id !== null) {
        const connection = connections.get(id)
        if (!connection) return refuse(404, "unknown session: initialize again")
        connection.usedAtMs = Date.now()
        return connection.transport.handleRequest(request)
      }
      if (request.method === "DELETE") return refuse(400, "mcp-session-id is missing")
      return (await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_BODY_BYTES }))
        ? open(request)
        : modern.fetch(request)
    },
    async close() {
      await Promise.allSettled([modern.close(), ...[...connections.values()].map(({ server }) => server.close())])
      connections.clear()
    },
  }
}

function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status, headers })
}

/** Clients rarely disconnect; close idle connections, oldest first. */
function sweep(connections: Map<string, Connection>): void {
  const oldestFirst = [...connections].sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs)
  const surplus = connections.size - MAX_SESSIONS + 1
  for (const [index, [id, { server, usedAtMs }]] of oldestFirst.entries()) {
    if (index >= surplus && Date.now() - usedAtMs < IDLE_MS) break
    connections.delete(id)
    void server.close()
  }
}
