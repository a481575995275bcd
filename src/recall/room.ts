import type { Store } from "../domain/store.ts"
import type { IndexFacts } from "./core.ts"
import type { Found, SearchWish } from "./search/wish.ts"
import { makeRecallThread, type ThreadOptions } from "./thread.ts"

/** The room's door: where was that said? */
export interface RecallRoom {
  search(wish: SearchWish): Promise<Found>
  facts(): Promise<IndexFacts>
  /** Resolves when nothing of what was forgotten is left in the index. */
  forgotten(): Promise<void>
  /** Makes the index anew from the archive. */
  rebuild(): Promise<void>
  /** Keeps the index up with the journal until the signal. */
  run(signal: AbortSignal): Promise<void>
}

export function makeRecall({ store, ...options }: { store: Store } & ThreadOptions): RecallRoom {
  const thread = makeRecallThread(options)
  return {
    search: (wish) => thread.search(wish),
    facts: () => thread.facts(),
    rebuild: () => thread.rebuild(),
    forgotten: async () => thread.reached(await store.journal.last()),
    async run(signal) {
      const off = store.onWake(() => thread.wake())
      thread.wake()
      if (!signal.aborted)
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
      off()
      await thread.stop()
    },
  }
}
