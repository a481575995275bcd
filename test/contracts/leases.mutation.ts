import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach } from "vitest"
import type { Store } from "../../src/domain/store.ts"
import { sqlite } from "../../src/store/dialects/sqlite.ts"
import { openStore } from "../../src/store/open.ts"
import { deliveriesContract } from "./store/deliveries.ts"
import { leasesContract } from "./store/leases.ts"
import { queueContract } from "./store/queue.ts"

// The part of the Store's contract that is about leases, for scripts/mutation.ts: the whole would take minutes for each fault.
let folder: string
let store: Store
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "leases-"))
  store = await openStore(sqlite({ path: join(folder, "t.db") }))
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

deliveriesContract(() => store)
leasesContract(() => store)
queueContract(() => store)
