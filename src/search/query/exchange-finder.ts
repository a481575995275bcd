import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import type { Turn } from "../../domain/turn.ts"

export interface ExchangeFinder {
  /** The number of the exchange that a turn belongs to: that of its first turn. */
  of(turn: Turn): Promise<number>
}

type Outline = { seq: number; atMs: number }[]

const MOST_SESSIONS = 200

/** Asks the store once per session, and then follows what comes. */
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
      // Said before something that is known already: only the store can tell the order.
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
