import type { LiveAgent, LiveSessions } from "../domain/live.ts"
import type { Address } from "../domain/message.ts"
import type { Hookless, Watch } from "../domain/presence.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Roster } from "../domain/team.ts"

/** Who has an address now, or why nobody has. */
export type ResolveTarget = (to: Address) => Promise<LiveAgent | Unreachable>

export interface Unreachable {
  unreachable: Reason
  /** A team that is only away: a session of it may be started. */
  awayTeam?: string
  /** Its agent fetches what waits. */
  isFetched?: boolean
}

export const isUnreachable = (found: LiveAgent | Unreachable): found is Unreachable => "unreachable" in found

export interface ResolveTargetDeps {
  store: Store
  roster: Roster
  live: LiveSessions
  host: string
  watch: Pick<Watch, "mayReturn">
  hookless: Pick<Hookless, "fetches">
}

export function makeResolveTarget({ store, roster, live, host, watch, hookless }: ResolveTargetDeps): ResolveTarget {
  return async ({ team: name, sessionId }) => {
    if (sessionId !== undefined) {
      const agent = await live.ofSession(sessionId)
      if (agent && agent.status !== "gone") return agent
      const elsewhere = agent?.route && agent.route.host !== host ? agent.route.host : undefined
      if (elsewhere !== undefined) return { unreachable: because("session_elsewhere", elsewhere) }
      return { unreachable: because((await store.sessions.byId(sessionId)) ? "session_ended" : "session_unknown") }
    }
    const team = roster.byName(name)
    if (!team) return { unreachable: because("team_unknown", name) }
    const [agent] = await live.ofTeam(team)
    if (agent && (await watch.mayReturn(name, agent))) return { unreachable: because("team_may_return", name) }
    if (agent) return agent
    const isFetched = await hookless.fetches(team)
    return { unreachable: isFetched ? because("agent_fetches") : because("team_away", name), awayTeam: name, isFetched }
  }
}

/** What two that write at the same time would share: the pane, or else the session. */
export function placeOf({ session, route }: Pick<LiveAgent, "session" | "route">): string {
  return route?.pane ? `${route.pane.socket}\0${route.pane.pane}` : session.id
}
