import type { SessionId } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Store } from "../domain/store.ts"

const SHORTEST_CHARS = 4

/** The session with this id, or those whose id, or agent's own id, begins like it: more than one is for the caller to refuse. */
export async function sessionsByPrefix({ sessions }: Pick<Store, "sessions">, given: string): Promise<Session[]> {
  const exact = await sessions.byId(given as SessionId)
  if (exact) return [exact]
  return given.length < SHORTEST_CHARS ? [] : sessions.byPrefix(given)
}
