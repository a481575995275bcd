import type { Context } from "hono"
import { streamSSE } from "hono/streaming"
import { Failure } from "../../domain/failure.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import { makeBell } from "../../lib/bell.ts"

/** Where the stream of events reads. */
export interface Feed {
  last(): Promise<number>
  after(seq: number, limit: number): Promise<JournalEntry[]>
  /** A hint that there is more. */
  onWake(listener: () => void): () => void
}

const AT_ONCE = 500
/** Who was away for longer than this begins anew: the page asks for everything then anyway. */
const MOST_MISSED = 20_000
/** A hint may be lost, and a line that is silent for long is closed by what stands between. */
const BEAT_MS = 10_000

/** The journal as it is written, by number: who says where it left off misses nothing. */
export function eventStream(feed: Feed, ending: AbortSignal) {
  return async (c: Context) => {
    const given = c.req.query("after") ?? c.req.header("last-event-id")
    const last = await feed.last()
    let seq = given === undefined ? last : Number(given)
    if (!Number.isSafeInteger(seq) || seq < 0)
      throw new Failure("bad_input", `after must be a number of the journal, got ${JSON.stringify(given)}`, {
        parameter: "after",
      })
    if (seq > last || last - seq > MOST_MISSED) seq = last
    return streamSSE(c, async (stream) => {
      const over = new AbortController()
      stream.onAbort(() => over.abort())
      const signal = AbortSignal.any([over.signal, ending])
      const bell = makeBell({ store: feed, signal })
      try {
        // Says from where on it tells, so that a line which is cut at once can be taken up again.
        await stream.writeSSE({ id: String(seq), data: "" })
        while (!signal.aborted) {
          const entries = await feed.after(seq, AT_ONCE)
          for (const entry of entries) {
            await stream.writeSSE({ id: String(entry.seq), data: JSON.stringify(viewOf(entry)) })
            seq = entry.seq
          }
          if (entries.length < AT_ONCE) {
            await bell.wait(BEAT_MS)
            if (entries.length === 0) await stream.write(":\n\n")
          }
        }
      } finally {
        bell.close()
      }
    })
  }
}

const viewOf = ({ seq, kind, sessionId, projectId, atMs, data }: JournalEntry) => ({
  seq,
  kind,
  sessionId,
  projectId,
  at: new Date(atMs).toISOString(),
  data,
})
