import type { SessionId } from "../../domain/ids.ts"

/** How many captures were kept, and how many nothing may be kept of. */
export interface Kept {
  turns: number
  leftOut: number
}

/** What was left out because of its folder is counted under this name. */
export const EXCLUDED = "excluded"

export interface KnownSession {
  id: SessionId
  projectPath: string | null
  excluded: boolean
  /** Excluded because of its folder, and not because it was forgotten. */
  byFolder: boolean
  lastAtMs: number
  /** What was written of it last, to leave out what says nothing new. */
  described: string
  isForgotten(nativeTurnId: string): boolean
  /** True once it has turns from more than a poor source. */
  hasReal: boolean
  /** False when it can have no turns from a poor one. */
  hasFallbacks: boolean
  /** False when none of its turns can have been taken back. */
  hasTakenBack: boolean
}

/** Remembered of a session of which nothing is kept. */
export const NOTHING_KEPT = {
  id: "" as SessionId,
  projectPath: null,
  excluded: true,
  lastAtMs: 0,
  described: "",
  isForgotten: () => true,
  hasReal: true,
  hasFallbacks: false,
  hasTakenBack: false,
}

export function seenKey(nativeSessionId: string, nativeTurnId: string): string {
  return `${nativeSessionId}\n${nativeTurnId}`
}

/** The agent's own ids of sessions, by ours: the sessions that are known here carry theirs in their keys. */
export function nativeIdsOf(known: ReadonlyMap<string, KnownSession>): Map<string, string> {
  return new Map([...known].map(([key, session]) => [session.id, key.slice(key.indexOf(" ") + 1)]))
}
