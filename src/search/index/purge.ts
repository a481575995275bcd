import type { IndexState } from "./index-state.ts"

const ROWS_AT_ONCE = 512

/** Deletes words and sessions that no document has. No segment may have removed documents, and no memtable any. */
export function dropUnused(state: IndexState): void {
  state.postingLists.clear()
  state.forgetWords()
  dropWords(state)
  dropSessions(state)
}

/** No segment has removed documents any more, so a frequency of 0 means unused. */
function dropWords({ tables, counts }: IndexState): void {
  for (let last = ""; ; ) {
    const rows = tables.termsAfter(last, ROWS_AT_ONCE)
    if (rows.length === 0) return
    last = rows.at(-1)!.word
    const droppedTerms = rows.filter(({ term }) => counts.of(term) === 0)
    if (droppedTerms.length > 0) tables.write({ droppedTerms })
  }
}

function dropSessions({ tables, segments, sessions }: IndexState): void {
  const used = new Set<number>()
  for (const { docs } of segments) for (let doc = 0; doc < docs.size; doc++) used.add(docs.session[doc]!)
  const droppedSessions = sessions.numbers().filter((number) => !used.has(number))
  if (droppedSessions.length === 0) return
  tables.write({ droppedSessions })
  sessions.forget(droppedSessions)
}
