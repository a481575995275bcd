import { parentPort, workerData } from "node:worker_threads"
import { systemClock } from "../domain/clock.ts"
import { makeRecallCore } from "../recall/core.ts"
import { serveRecall } from "../recall/thread.ts"
import { postgresIndex } from "../store/index-postgres.ts"
import { sqliteIndex } from "../store/index-sqlite.ts"
import { openStore } from "../store/open.ts"
import { postgres } from "../store/postgres.ts"
import { sqlite } from "../store/sqlite.ts"

export interface IndexerData {
  archive: { path: string } | { url: string }
  indexPath: string
}

/** What runs in the thread that owns the search index. It reads the archive, and never writes to it. */
const { archive, indexPath } = workerData as IndexerData
const store = await openStore(
  "url" in archive ? postgres({ url: archive.url, onError: () => {} }) : sqlite({ path: archive.path, readOnly: true }),
  { readOnly: true },
)
const tables = "url" in archive ? postgresIndex({ url: archive.url }) : sqliteIndex({ path: indexPath })
serveRecall({
  port: parentPort!,
  makeCore: (tell) => makeRecallCore({ store, clock: systemClock, tables, ...tell }),
  close: () => store.close(),
})
