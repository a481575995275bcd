import type { SessionId } from "../domain/ids.ts"
import type { LiveSessions } from "../domain/live.ts"
import type { Hookless, Watch } from "../domain/presence.ts"
import type { Team } from "../domain/team.ts"
import { makeHookless } from "./hookless.ts"
import { type LiveDeps, makeLive } from "./live.ts"
import { makeWatch, type WatchDeps } from "./watch.ts"

export interface WatchingModule {
  live: LiveSessions
  watch: Watch
  hookless: Hookless
  facts(team: Team): Promise<SessionFacts>
}

/** A team's current session. */
export interface SessionFacts {
  /** The agent's own id of the session, also after it has ended. */
  session_id: string | null
  status: "idle" | "busy" | "waiting" | "gone" | "nobody"
  waiting_for: string | null
  last_seen: string | null
  /** As the agent reported it. */
  current_task: string | null
}

/** Which sessions are running, by which routes they are reached, and which is each team's current one. */
export function makeWatching(deps: LiveDeps & Omit<WatchDeps, "live">): WatchingModule {
  const { store } = deps
  const live = makeLive(deps)
  const sessionOf = async (id: SessionId | null | undefined) => (id ? store.sessions.byId(id) : undefined)
  return {
    live,
    watch: makeWatch({ ...deps, live }),
    hookless: makeHookless({ ...deps, live }),
    async facts(team) {
      const presence = await store.presence.byTeam(team.name)
      const [agent] = await live.ofTeam(team)
      const nativeId = agent?.session.nativeId ?? presence?.nativeId ?? null
      const session = await sessionOf(agent?.session.id ?? presence?.sessionId)
      const task = session?.projectId ? await store.taskStates.get(session.projectId, session.nativeId) : undefined
      const seenAtMs = Math.max(
        agent?.route?.seenAtMs ?? 0,
        agent?.statusAtMs ?? 0,
        presence?.goneAtMs ?? (presence?.nativeId ? presence.sinceMs : 0),
      )
      return {
        session_id: nativeId,
        status: agent?.status ?? (nativeId === null ? "nobody" : "gone"),
        waiting_for: agent?.waitingFor ?? null,
        last_seen: seenAtMs === 0 ? null : new Date(seenAtMs).toISOString(),
        current_task: task?.currentTask ?? null,
      }
    },
  }
}
