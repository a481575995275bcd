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
  facts(team: Team): Promise<PostFacts>
}

/** What is known of the one at a team's post. */
export interface PostFacts {
  /** The agent's own name for its session, also when it is gone. */
  session_id: string | null
  status: "idle" | "busy" | "waiting" | "gone" | "nobody"
  waiting_for: string | null
  last_seen: string | null
  /** As the agent said itself. */
  current_task: string | null
}

/** Which sessions are live, where they are reached, and who is at the teams' posts. */
export function makeWatching(deps: LiveDeps & Omit<WatchDeps, "live">): WatchingModule {
  const { store } = deps
  const live = makeLive(deps)
  const sessionOf = async (id: SessionId | null | undefined) => (id ? store.sessions.byId(id) : undefined)
  return {
    live,
    watch: makeWatch({ ...deps, live }),
    hookless: makeHookless({ ...deps, live }),
    async facts(team) {
      const post = await store.posts.byTeam(team.name)
      const [agent] = await live.ofTeam(team)
      const nativeId = agent?.session.nativeId ?? post?.nativeId ?? null
      const session = await sessionOf(agent?.session.id ?? post?.sessionId)
      const task = session?.projectId ? await store.taskStates.get(session.projectId, session.nativeId) : undefined
      const seenAtMs = Math.max(
        agent?.route?.seenAtMs ?? 0,
        agent?.statusAtMs ?? 0,
        post?.goneAtMs ?? (post?.nativeId ? post.sinceMs : 0),
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
