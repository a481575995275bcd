import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Services } from "./services.ts"

type SessionModules = Pick<Services, "sessions" | "capture">

/**
 * Resolves a session id: the agent's own in the caller's project, ours or a prefix of it, or the
 * id it was logged under in any project, if unique.
 */
export async function sessionOf({ sessions, capture }: SessionModules, id: string, caller: Caller): Promise<Session> {
  // Works without a root; asking the client for its roots happens elsewhere.
  const root = await sessions.projects.ofCaller({ ...caller, canAskRoots: false }).catch(() => undefined)
  const own = await capture.byNativeId(id, root?.uri)
  if (own) return own
  try {
    return await sessions.recovery.get(id)
  } catch (error) {
    const code = error instanceof Failure ? error.code : undefined
    // If it is a complete logged id in two projects, a longer prefix would not help.
    const logged =
      code === "session_not_found" || code === "session_ambiguous" ? await loggedAs(capture, id) : undefined
    if (logged && code === "session_not_found") return logged
    throw error
  }
}

/** The only session logged under this id, in any project. */
export async function loggedAs(
  capture: Pick<Services["capture"], "byLoggedId">,
  id: string,
): Promise<Session | undefined> {
  const [logged, another] = await capture.byLoggedId(id)
  if (!logged || !another) return logged
  throw new Failure(
    "session_ambiguous",
    `more than one project has a session ${id}: name it from its project's folder, or by Throughline's own id`,
    { sessionId: id, sessions: [logged.id, another.id] },
  )
}

export const sessionIdOf = async (modules: SessionModules, id: string, caller: Caller): Promise<SessionId> =>
  (await sessionOf(modules, id, caller)).id
