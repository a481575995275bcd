import { rmSync } from "node:fs"
import { parentPort, workerData } from "node:worker_threads"
import { type EmbedderSetting, openEmbedder } from "../../adapters/embedders/list.ts"
import { systemClock } from "../../lib/clock.ts"
import { type CoreOptions, makeSearchCore } from "../../search/index/core.ts"
import { serveSearch } from "../../search/index/thread.ts"
import { startVectors } from "../../search/vectors/vectors.ts"
import { sqliteIndex } from "../../store/dialects/index-sqlite.ts"
import { postgres } from "../../store/dialects/postgres.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { sqliteVectors } from "../../store/dialects/vectors-sqlite.ts"
import { openStore } from "../../store/open.ts"

export interface IndexerData {
  archive: { path: string } | { url: string }
  indexPath: string
  vectorsPath: string
  embedder: EmbedderSetting
}

/** The thread that owns the search index. It reads the archive and never writes to it. */
const { archive, indexPath, vectorsPath, embedder } = workerData as IndexerData
const store = await openStore(
  "url" in archive ? postgres({ url: archive.url, onError: () => {} }) : sqlite({ path: archive.path, readOnly: true }),
  { readOnly: true },
)
/** The files are beside an embedded archive; a shared one can be exchanged for another. */
const owner = "url" in archive ? { archive: await store.id() } : {}
const tables = sqliteIndex({ path: indexPath, ...owner })
const vectors = openVectors()

serveSearch({
  port: parentPort!,
  makeCore: (tell) =>
    makeSearchCore({
      store,
      clock: systemClock,
      tables,
      ...tell,
      ...(vectors ? { startVectors: vectors.start(tell) } : {}),
    }),
  async close() {
    vectors?.tables.close()
    await store.close()
  },
})

function openVectors() {
  if (embedder === "none") {
    // Left by an earlier embedder. Nothing would remove forgotten texts from it.
    for (const suffix of ["", "-wal", "-shm"]) rmSync(vectorsPath + suffix, { force: true })
    return undefined
  }
  const tables = sqliteVectors({ path: vectorsPath, ...owner })
  const start =
    (tell: Pick<CoreOptions, "onTrouble">): NonNullable<CoreOptions["startVectors"]> =>
    (source, signal) =>
      startVectors({
        openEmbedder: (aborted) => openEmbedder(embedder, aborted),
        tables,
        source,
        clock: systemClock,
        signal,
        onTrouble: (failure) => tell.onTrouble(failure, "vectors cannot be made at the moment; search goes by words"),
      })
  return { tables, start }
}
