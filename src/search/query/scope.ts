import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { defined } from "../../lib/defined.ts"
import type { SearchRequest } from "./request.ts"

/** Which sessions a search is limited to. */
export type Scopes = ReturnType<typeof makeScopes>

/** Changes without a journal entry, such as a new branch, show up after this time. */
const REMEMBERED_MS = 10_000
const MOST_REMEMBERED = 50
/** Beyond this the whole scope is read again. */
const MOST_TOUCHED = 100

interface Remembered {
  ids: Set<string>
  /** Resolves when `ids` is up to date. */
  ready: Promise<void>
  touched: Set<SessionId>
  atMs: number
}

export function makeScopes(store: Store, clock: Clock) {
  const remembered = new Map<string, Remembered>()
  const looked = async (key: string, look: () => Promise<void>): Promise<void> => {
    try {
      await look()
    } catch (error) {
      remembered.delete(key)
      throw error
    }
  }
  /** Remembered before it is read, so that sessions touched meanwhile are checked again. */
  const read = (key: string, filter: Filter): Remembered => {
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    const ids = new Set<string>()
    const ready = looked(key, async () => {
      for (const id of await store.sessions.ids(filter)) ids.add(id)
    })
    const scope = { ids, ready, touched: new Set<SessionId>(), atMs: clock.nowMs() }
    remembered.set(key, scope)
    return scope
  }
  const renew = (key: string, { ids, ready, touched }: Remembered, filter: Filter): Promise<void> => {
    const among = [...touched]
    touched.clear()
    return looked(key, async () => {
      await ready
      const fitting = new Set<string>(await store.sessions.ids({ ...filter, among }))
      for (const id of among) fitting.has(id) ? ids.add(id) : ids.delete(id)
    })
  }
  return {
    /** Undefined if all sessions match. */
    async of({ projectId, sessionId, platform, gitBranch, domain }: Scope): Promise<ReadonlySet<string> | undefined> {
      const filter = defined({ projectId, platform, gitBranch, domain })
      if (Object.keys(filter).length === 0) return sessionId === undefined ? undefined : new Set([sessionId])
      const key = JSON.stringify(filter)
      let scope = remembered.get(key)
      if (!scope || clock.nowMs() - scope.atMs > REMEMBERED_MS || scope.touched.size > MOST_TOUCHED)
        scope = read(key, filter)
      else if (scope.touched.size > 0) scope.ready = renew(key, scope, filter)
      await scope.ready
      if (sessionId === undefined) return scope.ids
      return new Set(scope.ids.has(sessionId) ? [sessionId] : [])
    },
    /** These sessions changed: they may be new, or match other filters now. */
    touched(sessionIds: Iterable<string>) {
      for (const id of sessionIds) for (const { touched } of remembered.values()) touched.add(id as SessionId)
    },
  }
}

type Scope = Pick<SearchRequest, "projectId" | "sessionId" | "platform" | "gitBranch" | "domain">
type Filter = Parameters<Store["sessions"]["ids"]>[0]
