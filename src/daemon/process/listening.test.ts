import { once } from "node:events"
import { request } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Hono } from "hono"
import { afterEach, expect, test } from "vitest"
import { listening } from "./listening.ts"

let server: Awaited<ReturnType<typeof listening>>
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

test("a request whose body never ends is hung up on, and one whose answer takes longer is not", async () => {
  const app = new Hono()
  app.post("/", async (c) => {
    await c.req.text()
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    return c.text("done")
  })
  server = await listening(app, (one) => one.listen(0, "127.0.0.1"), { requestMs: 300, checkMs: 50 })
  const { port } = server.address() as AddressInfo
  const slow = connect(port, "127.0.0.1")
  slow.on("error", () => {})
  slow.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
  slow.resume()
  const patient = request({ port, host: "127.0.0.1", method: "POST" })
  patient.end("{}")
  const [response] = await once(patient, "response")
  expect(response.statusCode).toBe(200)
  response.resume()
  if (!slow.closed) await once(slow, "close")
}, 240_000)
