import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import type { Turn } from "../../domain/turn.ts"

export interface ExchangeFinder {
  /** The number of the exchange that a turn belongs to: that of its first turn. */
  of(turn: Turn): Promise<number>
}

type Outline = { seq: number; atMs: number }[]

const MOST_SESSIONS = 200

/** Reads a session's outline once and then keeps it up to date. */
export function exchangeFinder(store: Store): ExchangeFinder {
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
    async of(turn) {
      const outline = await outlineOf(turn.sessionId)
      const begun = lastBegun(outline, turn)
      if (turn.kind !== "prompt") return begun?.seq ?? outline[0]?.seq ?? turn.seq
      if (turn.supersededAtMs !== null || begun?.seq === turn.seq) return turn.seq
      // Out of order: only the store knows the sequence.
      if (begun !== outline.at(-1)) outlines.delete(turn.sessionId)
      else outline.push({ seq: turn.seq, atMs: turn.atMs })
      return turn.seq
    },
  }
}

function lastBegun(outline: Outline, turn: Turn): Outline[number] | undefined {
  let low = 0
  let high = outline.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(turn, outline[middle]!)) high = middle
    else low = middle + 1
  }
  return outline[low - 1]
}

const isBefore = (a: { seq: number; atMs: number }, b: { seq: number; atMs: number }) =>
  a.atMs < b.atMs || (a.atMs === b.atMs && a.seq < b.seq)
