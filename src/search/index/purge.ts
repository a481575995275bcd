import type { IndexState } from "./index-state.ts"
import { drop, merge } from "./merge.ts"

/** Rewrites segments with removed documents, then deletes unused words and sessions. */
export async function purge(state: IndexState): Promise<void> {
  for (const segment of state.segments.filter(({ docs }) => docs.removedCount > 0))
    for await (const _ of merge(state, [segment]));
  for (const number of [...state.toDrop]) for await (const _ of drop(state.tables, number));
  state.toDrop = []
  await dropWords(state)
  await dropSessions(state)
  state.postingLists.clear()
  state.forgetWords()
  await state.tables.purge()
}

const ROWS_AT_ONCE = 512

/** No segment has removed documents any more, so a frequency of 0 means unused. */
async function dropWords(state: IndexState): Promise<void> {
  const { tables } = state
  let last = ""
  for (;;) {
    const rows = await tables.termsAfter(last, ROWS_AT_ONCE)
    if (rows.length === 0) return
    last = rows.at(-1)!.word
    const unused = rows.filter(({ term }) => state.counts.of(term) === 0)
    if (unused.length > 0) await tables.write({ droppedTerms: unused })
  }
}

async function dropSessions(state: IndexState): Promise<void> {
  const used = new Set<number>()
  for (const { docs } of state.segments) for (let doc = 0; doc < docs.size; doc++) used.add(docs.session[doc]!)
  const unused = state.sessions.numbers().filter((number) => !used.has(number))
  if (unused.length === 0) return
  await state.tables.write({ droppedSessions: unused })
  state.sessions.forget(unused)
}
