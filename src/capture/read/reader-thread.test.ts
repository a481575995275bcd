import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MessageChannel } from "node:worker_threads"
import { expect, test } from "vitest"
import type { LineState, LinesReader, Platform } from "../../domain/platform.ts"
import { systemClock } from "../../lib/clock.ts"
import { makeThreadPeer } from "../../lib/thread-rpc.ts"
import type { Batch } from "../store/archive.ts"
import { type ReadJob, serveReading } from "./reader-thread.ts"

test("the memory of a reader leaves the thread redacted, with the names in it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tl-reader-"))
  const path = join(dir, "a.jsonl")
  writeFileSync(path, "my secret\n")
  const reader: LinesReader = {
    mode: "lines",
    begin: () => ({}) as LineState,
    line(line, state) {
      Object.assign(state, { last: line.toString().trim(), "a secret": { quoted: ["secret"] } })
      return []
    },
  }
  const platform = { id: "p", claim: () => ({ key: path, reader }) } as unknown as Platform
  const { port1, port2 } = new MessageChannel()
  const batches: Batch[] = []
  try {
    serveReading({
      port: port1,
      platforms: [platform],
      clock: systemClock,
      redact: (text) => text.replace("secret", "***"),
    })
    const thread = makeThreadPeer<{ read(id: number, job: ReadJob): { turns: number } }>(port2, {
      keep(_id: number, batch: Batch) {
        batches.push(batch)
        return { turns: 0, leftOut: 0 }
      },
      bytes() {},
    })
    const look = { inode: "1:1", sizeBytes: 10, mtimeMs: 1 }
    await thread.call("read", 1, { platform: "p", place: { dir, depth: 0 }, path, look, before: undefined })
    expect(batches.map(({ isRedacted, source }) => ({ isRedacted, memory: source.memory }))).toEqual([
      { isRedacted: true, memory: { last: "my ***", "a ***": { quoted: ["***"] } } },
    ])
  } finally {
    port1.close()
    rmSync(dir, { recursive: true, force: true })
  }
})
