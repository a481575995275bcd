import * as z from "zod"
import { operation } from "./operation.ts"
import type { SystemStatus } from "./system.ts"

export const reindex = operation({
  name: "reindex",
  summary: "Rebuild the search index",
  effect: "write",
  access: "agent",
  accessReason: "it only costs time: the index is rebuilt from the archive, and nothing is deleted",
  on: ["cli", "http"],
  progress: {
    from: "status",
    line(status) {
      const { search, store } = status as unknown as SystemStatus
      const left = Math.min(search.behind ?? 0, store.journal)
      const share = store.journal === 0 ? 1 : 1 - left / store.journal
      const filled = Math.round(share * BAR_CHARS)
      return `[${"█".repeat(filled)}${"░".repeat(BAR_CHARS - filled)}] ${Math.round(share * 100)} %  ${left} journal entries left`
    },
  },
  input: z.strictObject({}),
  output: z.object({ documents: z.number(), sizeBytes: z.number(), seconds: z.number() }),
  text: ({ documents, sizeBytes, seconds }) =>
    `${documents === 1 ? "1 turn or thought" : `${documents} turns and thoughts`} indexed in ${seconds} s (${Math.round(sizeBytes / 1e5) / 10} MB).`,
  async run({ recall }) {
    const startedMs = performance.now()
    await recall.rebuild()
    const { documents, sizeBytes } = await recall.facts()
    return { documents, sizeBytes, seconds: Math.round((performance.now() - startedMs) / 100) / 10 }
  },
})

const BAR_CHARS = 24
