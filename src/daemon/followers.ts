import type { Follower } from "../domain/journal.ts"
import type { Store } from "../domain/store.ts"
import type { Log } from "./log.ts"

const BATCH = 500
/** Wake-ups make it fast; this makes it right when one is lost. */
const POLL_MS = 2_000
const RETRY_MS = 1_000

/** Runs a follower from its saved number until the signal; resolves when the last batch is settled. */
export async function follow(store: Store, follower: Follower, log: Log, signal: AbortSignal): Promise<void> {
  const bell = makeBell(store, signal)
  while (!signal.aborted) {
    try {
      const moved = await advance(store, follower, signal)
      if (!moved) await bell.wait(POLL_MS)
    } catch (error) {
      log.error({ follower: follower.name, err: error }, "follower failed; it will try the same entries again")
      await bell.pause(RETRY_MS)
    }
  }
  bell.close()
}

async function advance(store: Store, follower: Follower, signal: AbortSignal): Promise<boolean> {
  const entries = await store.journal.after(await store.journal.position(follower.name), BATCH)
  const last = entries.at(-1)
  if (!last) return false
  await follower.after(entries, signal)
  await store.journal.advance(follower.name, last.seq)
  return true
}

/** A ring between two waits is not lost. */
function makeBell(store: Store, signal: AbortSignal) {
  let rung = false
  let wake: (() => void) | undefined
  const ring = () => {
    rung = true
    wake?.()
  }
  const off = store.onWake(ring)
  signal.addEventListener("abort", ring)
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
      if (signal.aborted) wake()
    })
  return {
    async wait(ms: number) {
      if (!rung) await pause(ms)
      rung = false
    },
    pause,
    close() {
      off()
      signal.removeEventListener("abort", ring)
    },
  }
}
