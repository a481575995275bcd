import { setFlagsFromString } from "node:v8"
import { type ResourceLimits, Worker } from "node:worker_threads"
import type { IndexerData } from "./indexer.ts"

const SEMI_SPACE_MB = 8

/**
 * Lists that were read are kept beside the heap. What a search leaves behind is short-lived: with less room for it, a good
 * part of each search would be the garbage collector's.
 */
export const INDEXER_LIMITS: ResourceLimits = {
  maxOldGenerationSizeMb: 128,
  maxYoungGenerationSizeMb: SEMI_SPACE_MB * 3,
}

/** The process's flag overrides a thread's limits. V8 reads it only when a thread starts. */
const SEMI_SPACE = "--max-semi-space-size"
const ownFlag = process.execArgv.find((flag) => flag.startsWith(SEMI_SPACE)) ?? `${SEMI_SPACE}=0`

export function startIndexer(data: IndexerData): Worker {
  setFlagsFromString(`${SEMI_SPACE}=${SEMI_SPACE_MB}`)
  const worker = new Worker(new URL("../daemon/indexer.js", import.meta.url), {
    workerData: data,
    resourceLimits: INDEXER_LIMITS,
  })
  for (const begun of ["online", "exit"]) worker.once(begun, () => setFlagsFromString(ownFlag))
  return worker
}
