import type { Follower } from "../domain/journal.ts"
import type { Store } from "../domain/store.ts"

/** Makes thoughts findable. Indexing a thought again replaces its words, so a repeated entry changes nothing. */
export function makeIndexer(store: Store): Follower {
  return {
    name: "recall.indexer",
    async after(entries) {
      const seqs = entries.filter((entry) => entry.kind === "thought.recorded").map((entry) => Number(entry.data.seq))
      if (seqs.length > 0) await store.words.index(await store.thoughts.bySeqs(seqs))
    },
  }
}
