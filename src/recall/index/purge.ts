import type { IndexTables } from "../../domain/index-tables.ts"
import { drop, merge } from "./merge.ts"
import { isPackRow, PackReader, termOf } from "./pack.ts"
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
  shelf.words.clear()
  await shelf.tables.purge()
}

const ROWS_AT_ONCE = 512

async function dropWords(shelf: Shelf): Promise<void> {
  const { tables } = shelf
  const isUsed = new Uint8Array(shelf.nextTerm)
  for (const { number } of shelf.segments) await markUsed(tables, number, isUsed)
  let last = ""
  for (;;) {
    const rows = await tables.termsAfter(last, ROWS_AT_ONCE)
    if (rows.length === 0) return
    last = rows.at(-1)!.word
    const unused = rows.filter(({ term }) => !isUsed[term])
    if (unused.length > 0) await tables.write({ droppedTerms: unused })
  }
}

async function markUsed(tables: IndexTables, segment: number, isUsed: Uint8Array): Promise<void> {
  const reader = new PackReader()
  let last = 0
  for (;;) {
    const rows = await tables.rowsAfter(segment, last, ROWS_AT_ONCE)
    if (rows.length === 0) return
    last = rows.at(-1)!
    for (const row of rows) if (!isPackRow(row)) isUsed[termOf(row)] = 1
    const packs = rows.filter(isPackRow)
    const read = await tables.lists(packs.map((row) => ({ segment, row, otherwise: row })))
    packs.forEach((row, at) => {
      for (reader.open(read[at]!, row); reader.term < isUsed.length; reader.next()) isUsed[reader.term] = 1
    })
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
