import { parentPort, workerData } from "node:worker_threads"
import { systemClock } from "../domain/clock.ts"
import { makeRecallCore } from "../recall/core.ts"
import { serveRecall } from "../recall/thread.ts"
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
const port = parentPort!
const store = await openStore(
  "url" in archive ? postgres({ url: archive.url, onError: () => {} }) : sqlite({ path: archive.path, readOnly: true }),
  { readOnly: true },
)
serveRecall({
  port,
  core: makeRecallCore({
    store,
    clock: systemClock,
    tables: sqliteIndex({ path: indexPath }),
    onTrouble: (error, what) => port.postMessage({ type: "trouble", message: String(error), what }),
    onRebuild: (reason) => port.postMessage({ type: "rebuild", reason }),
  }),
  close: () => store.close(),
})
