import type { JournalConsumer } from "../../domain/journal.ts"
import type { Store } from "../../domain/store.ts"
import { makeBell } from "../../lib/bell.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import type { Log } from "../process/log.ts"

/** Small enough that a call behind a batch waits only milliseconds. */
const BATCH = 200
/** Combines a burst into one transaction. */
const GATHER_MS = 50
/** Wake-ups make it fast; this makes it right when one is lost. */
const POLL_MS = 2_000

/** Runs a consumer from its saved number until the signal; resolves when the last batch is settled. */
export async function consume(store: Store, consumer: JournalConsumer, log: Log, signal: AbortSignal): Promise<void> {
  const bell = makeBell({ store, signal })
  await superviseLoop({
    name: `journal consumer ${consumer.name}`,
    signal,
    onTrouble: (err) =>
      log.error({ consumer: consumer.name, err }, "journal consumer failed; retrying the same entries"),
    async round(_, alive) {
      const count = await advance(store, consumer, signal)
      alive()
      if (count === 0) await bell.wait(POLL_MS)
      // Requests get their turn between two batches: the embedded database works in this very thread.
      if (count < BATCH) await bell.pause(GATHER_MS)
    },
  })
  bell.close()
}

async function advance(store: Store, consumer: JournalConsumer, signal: AbortSignal): Promise<number> {
  const entries = await store.journal.after(await store.journal.position(consumer.name), BATCH)
  const last = entries.at(-1)
  if (!last) return 0
  const read = entries.filter(({ kind }) => reads(consumer, kind))
  if (read.length > 0) await consumer.before?.(read)
  // Lost to a power cut it is done again, and a disk that is made to flush keeps the agents' own commits waiting.
  await store.transaction(
    async (tx) => {
      if (read.length > 0) await consumer.after(read, tx, signal)
      await tx.journal.advance(consumer.name, last.seq)
    },
    { durability: "relaxed" },
  )
  return entries.length
}

const reads = ({ kinds }: JournalConsumer, kind: string) =>
  kinds === undefined || kinds.some((one) => (one.endsWith(".") ? kind.startsWith(one) : kind === one))
