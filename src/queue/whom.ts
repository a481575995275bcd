import type { LiveAgent, LiveSessions } from "../domain/live.ts"
import type { Address } from "../domain/message.ts"
import type { Hookless, Watch } from "../domain/presence.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Roster } from "../domain/team.ts"

/** Who has an address now, or why nobody has. */
export type Whom = (to: Address) => Promise<LiveAgent | Nobody>

export interface Nobody {
  nobody: Reason
  /** A team that is only away: a session of it may be started. */
  awayTeam?: string
  /** Its agent fetches what waits. */
  isFetched?: boolean
}

export const isNobody = (found: LiveAgent | Nobody): found is Nobody => "nobody" in found

export interface WhomDeps {
  store: Store
  roster: Roster
  live: LiveSessions
  host: string
  watch: Pick<Watch, "mayReturn">
  hookless: Pick<Hookless, "fetches">
}

export function makeWhom({ store, roster, live, host, watch, hookless }: WhomDeps): Whom {
  return async ({ team: name, sessionId }) => {
    if (sessionId !== undefined) {
      const agent = await live.ofSession(sessionId)
      if (agent && agent.status !== "gone") return agent
      const elsewhere = agent?.route && agent.route.host !== host ? agent.route.host : undefined
      if (elsewhere !== undefined) return { nobody: because("session_elsewhere", elsewhere) }
      return { nobody: because((await store.sessions.byId(sessionId)) ? "session_ended" : "session_unknown") }
    }
    const team = roster.byName(name)
    if (!team) return { nobody: because("team_unknown", name) }
    const [agent] = await live.ofTeam(team)
    if (agent && (await watch.mayReturn(name, agent))) return { nobody: because("team_may_return", name) }
    if (agent) return agent
    const isFetched = await hookless.fetches(team)
    return { nobody: isFetched ? because("agent_fetches") : because("team_away", name), awayTeam: name, isFetched }
  }
}

/** What two that write at the same time would share: the pane, or else the session. */
export function placeOf({ session, route }: Pick<LiveAgent, "session" | "route">): string {
  return route?.pane ? `${route.pane.socket}\0${route.pane.pane}` : session.id
}
