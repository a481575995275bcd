import { drop, merge } from "./merge.ts"
import type { Shelf } from "./shelf.ts"

/** Rewrites the segments that have removed documents, and deletes the words and sessions that nothing has any more. */
export async function purge(shelf: Shelf): Promise<void> {
  for (const segment of shelf.segments.filter(({ docs }) => docs.removedCount > 0))
    for await (const _ of merge(shelf, [segment]));
  for (const number of [...shelf.toDrop]) for await (const _ of drop(shelf.tables, number));
  shelf.toDrop = []
  await dropWords(shelf)
  await dropSessions(shelf)
  shelf.lists.clear()
  shelf.forgetWords()
  await shelf.tables.purge()
}

const ROWS_AT_ONCE = 512

/** No segment has removed documents any more, so what counts nothing is nowhere. */
async function dropWords(shelf: Shelf): Promise<void> {
  const { tables } = shelf
  let last = ""
  for (;;) {
    const rows = await tables.termsAfter(last, ROWS_AT_ONCE)
    if (rows.length === 0) return
    last = rows.at(-1)!.word
    const unused = rows.filter(({ term }) => shelf.counts.of(term) === 0)
    if (unused.length > 0) await tables.write({ droppedTerms: unused })
  }
}

async function dropSessions(shelf: Shelf): Promise<void> {
  const used = new Set<number>()
  for (const { docs } of shelf.segments) for (let doc = 0; doc < docs.size; doc++) used.add(docs.session[doc]!)
  const unused = shelf.sessions.numbers().filter((number) => !used.has(number))
  if (unused.length === 0) return
  await shelf.tables.write({ droppedSessions: unused })
  shelf.sessions.forget(unused)
}
