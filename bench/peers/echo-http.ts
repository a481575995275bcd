// The floor over HTTP: one echo tool, both eras, as the SDK serves them by default.
import { createAdaptorServer } from "@hono/node-server"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { echoServer } from "./echo.ts"

const handler = createMcpHandler(echoServer)
const server = createAdaptorServer({ fetch: (request: Request) => handler.fetch(request) })
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  console.log(typeof address === "object" && address ? address.port : "")
})
