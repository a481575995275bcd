import { newSessionId, type SessionId } from "../../domain/ids.ts"
import type { NewSession, Session } from "../../domain/session.ts"
import type { Store } from "../../domain/store.ts"

/** How many turns were stored, and how many captures were excluded. */
export interface Kept {
  turns: number
  leftOut: number
}

/** The counter of captures excluded by their folder. */
export const EXCLUDED = "excluded"

export interface KnownSession {
  id: SessionId
  projectPath: string | null
  excluded: boolean
  /** Excluded by its folder, not because it was forgotten. */
  byFolder: boolean
  lastAtMs: number
  /** The last description written, to skip repetitions. */
  described: string
  isForgotten(nativeTurnId: string): boolean
  /** It has turns from a complete source. */
  hasReal: boolean
  /** False if it cannot have turns from a fallback source. */
  hasFallbacks: boolean
  /** False if none of its turns can be rewound. */
  hasRewound: boolean
}

/** The cache entry of a session that must not be stored. */
export const NOTHING_KEPT = {
  id: "" as SessionId,
  projectPath: null,
  excluded: true,
  lastAtMs: 0,
  described: "",
  isForgotten: () => true,
  hasReal: true,
  hasFallbacks: false,
  hasRewound: false,
}

export function seenKey(nativeSessionId: string, nativeTurnId: string): string {
  return `${nativeSessionId}\n${nativeTurnId}`
}

/** Creates a session that so far has only an id, with its journal entry. */
export async function createSession(
  tx: Store,
  about: Pick<NewSession, "platform" | "nativeId" | "createdAtMs" | "origin">,
  nowMs: number,
): Promise<Session> {
  const unnamed = { id: newSessionId(), projectId: null, title: "Untitled", tags: [], key: null }
  const { session, created } = await tx.sessions.create({ ...unnamed, ...about })
  const entry = { kind: "session.started", sessionId: session.id, atMs: nowMs, data: { platform: about.platform } }
  if (created) await tx.journal.append([entry])
  return session
}

export const seqsOf = (turns: readonly { seq: number }[]) => turns.map(({ seq }) => seq)
