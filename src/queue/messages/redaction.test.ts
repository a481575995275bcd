import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { AGENT_CHANNEL } from "../../domain/message.ts"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { messageRedaction } from "./redaction.ts"

let dir: string
let store: Store
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "redaction-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const consumer = messageRedaction({ redact: (text) => text.replaceAll("hunter2", "[redacted:password]") })
const read = async () => consumer.after(await store.journal.after(0, 99), store, AbortSignal.any([]))

test("a message keeps its secrets until it is over, and loses them then", async () => {
  const payload = { team: "api", text: "log in with hunter2", priority: "normal", sender: { kind: "owner", name: "" } }
  const message = { key: "m-1", lane: "team:api", channel: AGENT_CHANNEL, repeatable: false, payload }
  await store.deliveries.enqueue(message, 1)
  const text = async () => (await store.deliveries.byKey("m-1"))!.payload.text
  const entry = (state: string) => ({ kind: `message.${state}`, atMs: 1, data: { id: "m-1", team: "api", state } })
  await store.journal.append([entry("queued"), entry("delivered"), entry("running"), entry("uncertain")])
  await read()
  expect(await text()).toBe("log in with hunter2")
  await store.journal.append([entry("done")])
  await read()
  await read()
  expect(await text()).toBe("log in with [redacted:password]")
})
