import type { Address } from "../../domain/message.ts"
import type { Store } from "../../domain/store.ts"
import type { Roster } from "../../domain/team.ts"
import type { LiveAgent, LiveSessions } from "../watching/live.ts"
import type { Watch } from "../watching/watch.ts"

/** Who has an address now, or why nobody has. */
export type Whom = (to: Address) => Promise<LiveAgent | Nobody>

export interface Nobody {
  /** For people. */
  nobody: string
  /** A team that is only away: a session of it may be started. */
  awayTeam?: string
}

export const isNobody = (found: LiveAgent | Nobody): found is Nobody => "nobody" in found

export interface WhomDeps {
  store: Store
  roster: Roster
  live: LiveSessions
  host: string
  watch: Pick<Watch, "mayReturn">
}

export function makeWhom({ store, roster, live, host, watch }: WhomDeps): Whom {
  return async ({ team: name, sessionId }) => {
    if (sessionId !== undefined) {
      const agent = await live.ofSession(sessionId)
      if (agent && agent.status !== "gone") return agent
      const elsewhere = agent?.route && agent.route.host !== host ? agent.route.host : undefined
      if (elsewhere !== undefined) return { nobody: `the session was last seen on ${elsewhere}` }
      return { nobody: (await store.sessions.byId(sessionId)) ? ENDED : "the session is not kept any more" }
    }
    const team = roster.byName(name)
    if (!team) return { nobody: `the team ${name} is not in the configuration` }
    const [agent] = await live.ofTeam(team)
    if (agent && (await watch.mayReturn(name, agent)))
      return { nobody: `the session of ${name} is gone, and may come back` }
    return agent ?? { nobody: `no session of ${name} is live`, awayTeam: name }
  }
}

export const ENDED = "the session has ended"

/** What two that write at the same time would share: the pane, or else the session. */
export function placeOf({ session, route }: Pick<LiveAgent, "session" | "route">): string {
  return route?.pane ? `${route.pane.socket}\0${route.pane.pane}` : session.id
}
