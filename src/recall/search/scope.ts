import type { Clock } from "../../domain/clock.ts"
import type { Store } from "../../domain/store.ts"
import type { SearchWish } from "./wish.ts"

/** Which sessions a search is kept to. */
export interface Scopes {
  /** Undefined where all are meant. */
  of(
    wish: Pick<SearchWish, "projectId" | "sessionId" | "platform" | "gitBranch">,
  ): Promise<ReadonlySet<string> | undefined>
}

/** A session that begins now must be found now, or nearly so. */
const REMEMBERED_MS = 1_000
const MOST_REMEMBERED = 50

export function makeScopes(store: Store, clock: Clock): Scopes {
  const remembered = new Map<string, { ids: ReadonlySet<string>; atMs: number }>()
  return {
    async of({ projectId, sessionId, platform, gitBranch }) {
      if (projectId === undefined && platform === undefined && gitBranch === undefined)
        return sessionId === undefined ? undefined : new Set([sessionId])
      const key = JSON.stringify([projectId, platform, gitBranch])
      let known = remembered.get(key)
      if (!known || clock.nowMs() - known.atMs > REMEMBERED_MS) {
        const filter = {
          ...(projectId === undefined ? {} : { projectId }),
          ...(platform === undefined ? {} : { platform }),
          ...(gitBranch === undefined ? {} : { gitBranch }),
        }
        known = { ids: new Set(await store.sessions.ids(filter)), atMs: clock.nowMs() }
        if (remembered.size >= MOST_REMEMBERED) remembered.clear()
        remembered.set(key, known)
      }
      if (sessionId === undefined) return known.ids
      return new Set(known.ids.has(sessionId) ? [sessionId] : [])
    },
  }
}
