import { Worker } from "node:worker_threads"
import type { IndexerData } from "./indexer.ts"

export function startIndexer(data: IndexerData): Worker {
  return new Worker(new URL("../daemon/indexer.js", import.meta.url), {
    workerData: data,
    // Lists that were read are cached beside the heap; what is left over is short-lived.
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 },
  })
}
