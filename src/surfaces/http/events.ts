import type { Context } from "hono"
import { streamSSE } from "hono/streaming"
import { Failure } from "../../domain/failure.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import { makeBell } from "../../lib/bell.ts"

/** The journal, as the event stream reads it. */
export interface Feed {
  last(): Promise<number>
  after(seq: number, limit: number): Promise<JournalEntry[]>
  /** Wake-up hint. */
  onWake(listener: () => void): () => void
}

const AT_ONCE = 500
/** Beyond this the stream starts at the end: the page reloads everything then anyway. */
const MOST_MISSED = 20_000
/** Hints may be lost, and proxies close idle connections. */
const BEAT_MS = 10_000

/** Streams the journal; clients resume from their last number. */
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
        // Sends the starting number, so that a client cut off at once can resume.
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
