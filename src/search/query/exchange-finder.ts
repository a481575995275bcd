import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import type { Turn } from "../../domain/turn.ts"
import { lowerBound } from "../../lib/lower-bound.ts"

type Outline = { seq: number; atMs: number }[]

const MOST_SESSIONS = 200

/** Reads a session's outline once and then keeps it up to date. */
export function exchangeFinder(store: Store) {
  const outlines = new Map<SessionId, Outline>()

  const outlineOf = async (sessionId: SessionId): Promise<Outline> => {
    const known = outlines.get(sessionId)
    if (known) return known
    const outline = await store.turns.outline(sessionId)
    if (outlines.size >= MOST_SESSIONS) outlines.delete(outlines.keys().next().value!)
    outlines.set(sessionId, outline)
    return outline
  }

  return {
    /** The number of the exchange that a turn belongs to: that of its first turn. */
    async of(turn: Turn): Promise<number> {
      const outline = await outlineOf(turn.sessionId)
      const begun = outline[lowerBound(outline.length, (at) => !isBefore(turn, outline[at]!)) - 1]
      if (turn.kind !== "prompt") return begun?.seq ?? outline[0]?.seq ?? turn.seq
      if (turn.supersededAtMs !== null || begun?.seq === turn.seq) return turn.seq
      // Out of order: only the store knows the sequence.
      if (begun !== outline.at(-1)) outlines.delete(turn.sessionId)
      else outline.push({ seq: turn.seq, atMs: turn.atMs })
      return turn.seq
    },
  }
}

const isBefore = (a: { seq: number; atMs: number }, b: { seq: number; atMs: number }) =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.seq < b.seq)
