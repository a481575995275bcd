import type { SessionId } from "../domain/ids.ts"
import type { LiveAgent } from "../domain/live.ts"

/** Which sessions are in a turn, as their hooks told it: the agent's own registry is a moment behind. */
export interface OpenTurns {
  opened(session: SessionId, atMs: number): void
  closed(session: SessionId): void
  /** Since when; undefined when none is known to be open. */
  since(session: SessionId): number | undefined
  /** As the registry says it, unless a hook has told of a turn that the registry does not know yet. */
  isBusy(agent: LiveAgent, nowMs: number): boolean
}

/** So long after a prompt the agent's registry may still say what was before it. */
const REGISTRY_LAG_MS = 3_000

export function makeOpenTurns(): OpenTurns {
  const open = new Map<SessionId, number>()
  return {
    opened: (session, atMs) => void open.set(session, atMs),
    closed: (session) => void open.delete(session),
    since: (session) => open.get(session),
    isBusy({ session, status, statusAtMs }, nowMs) {
      if (status !== "idle") return true
      const sinceMs = open.get(session.id)
      if (sinceMs === undefined || nowMs - sinceMs > REGISTRY_LAG_MS) return false
      return statusAtMs === null || statusAtMs <= sinceMs
    },
  }
}
