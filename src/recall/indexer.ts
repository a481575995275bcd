import type { Follower } from "../domain/journal.ts"

/** Makes thoughts findable. A thought that is indexed already is left alone, so a repeated entry changes nothing. */
export const indexer: Follower = {
  name: "recall.indexer",
  async after(entries, store) {
    const seqs = entries.filter((entry) => entry.kind === "thought.recorded").map((entry) => Number(entry.data.seq))
    if (seqs.length > 0) await store.words.index(await store.thoughts.bySeqs(seqs))
  },
}
