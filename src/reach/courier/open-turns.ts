import type { SessionId } from "../../domain/ids.ts"

/** Which sessions are in a turn, as their hooks told it: the agent's own registry is a moment behind. */
export interface OpenTurns {
  opened(session: SessionId, atMs: number): void
  closed(session: SessionId): void
  /** Since when; undefined when none is known to be open. */
  since(session: SessionId): number | undefined
}

export function makeOpenTurns(): OpenTurns {
  const open = new Map<SessionId, number>()
  return {
    opened: (session, atMs) => void open.set(session, atMs),
    closed: (session) => void open.delete(session),
    since: (session) => open.get(session),
  }
}
