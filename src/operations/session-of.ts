import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Session } from "../domain/session.ts"
import type { Services } from "./services.ts"

type SessionModules = Pick<Services, "sessions" | "capture">

/**
 * The session that a caller means: by the agent's own id in the caller's project, by ours or the beginning of it, or by the
 * id under which it was logged in any project, where only one session has that.
 */
export async function sessionOf({ sessions, capture }: SessionModules, id: string, caller: Caller): Promise<Session> {
  // Without a root it is looked for all the same; a client that must be asked for its roots first is asked elsewhere.
  const root = await sessions.projects.ofCaller({ ...caller, canAskRoots: false }).catch(() => undefined)
  const own = await capture.byNativeId(id, root?.uri)
  if (own) return own
  try {
    return await sessions.recovery.get(id)
  } catch (error) {
    const code = error instanceof Failure ? error.code : undefined
    // Where several begin so, and it is a whole id of a log in two projects, more of it would not help.
    const logged =
      code === "session_not_found" || code === "session_ambiguous" ? await loggedAs(capture, id) : undefined
    if (logged && code === "session_not_found") return logged
    throw error
  }
}

/** The one session that was logged under this id, in whichever project. */
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
