import type { Server } from "node:http"
import { createAdaptorServer } from "@hono/node-server"
import type { Hono } from "hono"

/** Time for a request to arrive. Answers may take hours. */
const REQUEST_MS = 120_000
const HEADERS_MS = 30_000
const KEEP_ALIVE_MS = 60_000

export function listening(
  app: Hono,
  start: (server: Server) => void,
  { requestMs = REQUEST_MS, checkMs = 10_000 }: { requestMs?: number; checkMs?: number } = {},
): Promise<Server> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      requestTimeout: requestMs,
      headersTimeout: Math.min(HEADERS_MS, requestMs),
      connectionsCheckingInterval: checkMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
  }) as Server
  return new Promise((resolve, reject) => {
    server.once("error", reject)
    server.once("listening", () => {
      server.off("error", reject)
      resolve(server)
    })
    start(server)
  })
}
