import type { Store } from "../../domain/store.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { lookAt } from "../../lib/untrusted-file.ts"

interface Options {
  store: Pick<Store, "about" | "emptyLog">
  signal: AbortSignal
  onTrouble(error: unknown): void
}

/** docs/privacy.md promises ten seconds at rest. */
const LOOK_MS = 1_000
/** Emptied at most this often under steady writes. */
const MOST_WAIT_MS = 8_000

/**
 * What was replaced or deleted stays readable in the write-ahead log until the log is emptied. By the file, not by what
 * was written: nothing that is cleaned can be forgotten, and what a killed daemon left behind goes too.
 */
export async function emptyLogs({ store, signal, onTrouble }: Options): Promise<void> {
  if (store.about.kind !== "sqlite") return
  const path = `${store.about.place}-wal`
  let seen: { mtimeMs: number; sinceMs: number } | undefined
  await superviseLoop({
    name: "write-ahead log",
    signal,
    everyMs: LOOK_MS,
    async round() {
      const { size, mtimeMs } = lookAt(path) ?? { size: 0, mtimeMs: 0 }
      if (size === 0) {
        seen = undefined
        return
      }
      const nowMs = performance.now()
      const isAtRest = seen?.mtimeMs === mtimeMs
      seen = { mtimeMs, sinceMs: seen?.sinceMs ?? nowMs }
      // A reader may still need it: then the next round tries again.
      if ((isAtRest || nowMs - seen.sinceMs >= MOST_WAIT_MS) && (await store.emptyLog())) seen = undefined
    },
    onTrouble,
  })
}
