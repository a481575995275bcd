import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import type { Store } from "../../domain/store.ts"
import { sqlite } from "../dialects/sqlite.ts"
import { openStore } from "../open.ts"

let dir: string
let store: Store
const NOW_MS = 1_800_000_000_000
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "leasing-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

const fill = (from: number, to: number) =>
  store.transaction(async (tx) => {
    for (let n = from; n < to; n++) {
      const message = { key: `k${n}`, lane: `l${n % 10}`, channel: "agent", payload: {}, repeatable: false }
      await tx.deliveries.enqueue({ ...message, expiresAtMs: NOW_MS + 1_000 }, NOW_MS)
    }
  })

/** The processor's time, because the clock's depends on what else runs. */
async function costMs(): Promise<number> {
  const request = { owner: "o", host: "h", leaseMs: 1_000, limit: 0, channels: ["agent"] }
  const look = async () => {
    await store.deliveries.lease(request, NOW_MS)
    await store.deliveries.cutOff(request, NOW_MS)
    await store.deliveries.expire("agent", NOW_MS)
  }
  for (let n = 0; n < 20; n++) await look()
  const before = process.cpuUsage()
  for (let n = 0; n < 40; n++) await look()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test("a look for what can go costs the same however much waits behind it", async () => {
  await fill(0, 50)
  const few = await costMs()
  await fill(50, 8_000)
  expect((await costMs()) / few).toBeLessThan(5)
}, 240_000)
