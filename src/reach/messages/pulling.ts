import type { Caller } from "../../domain/caller.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { comesBefore, lanesOf } from "../../domain/message.ts"
import { because } from "../../domain/reason.ts"
import type { Store } from "../../domain/store.ts"
import type { Team } from "../../domain/team.ts"
import type { Desk } from "../courier/desk.ts"
import type { LiveAgent, LiveSessions } from "../watching/live.ts"
import type { Watch } from "../watching/watch.ts"
import { moveOn, settleLeased } from "./entries.ts"
import { isMail, mailText } from "./mail.ts"

export interface PulledMail {
  id: string
  text: string
  atMs: number
}

const MOST_AT_ONCE = 20

/** The last way: the team's own agent asks what there is for it. The owner's words do not go by it. */
export function makePulling({
  store,
  clock,
  desk,
  live,
  host,
  watch,
}: {
  store: Store
  clock: Clock
  desk: Desk
  live: LiveSessions
  host: string
  watch: Pick<Watch, "mayReturn" | "reportTakeovers">
}) {
  /** After `/clear` our server beside the agent still names the session before it: the process is the same. */
  const agentOf = async (agents: readonly LiveAgent[], named: NonNullable<Caller["nativeSession"]>) => {
    const found = agents.find(({ session }) => session.nativeId === named.id)
    if (found) return found
    const before = await store.sessions.byNative(named.platform, named.id)
    const last = before && (await store.runs.ofSession(before.id)).at(-1)
    return last && last.pid > 0 && last.host === host
      ? agents.find(({ session, pid }) => session.platform === named.platform && pid === last.pid)
      : undefined
  }

  const fetcherOf = async (team: Team, { nativeSession }: Caller): Promise<LiveAgent | undefined> => {
    const agents = await live.ofTeam(team)
    return nativeSession ? agentOf(agents, nativeSession) : agents[0]
  }

  const beforePull = async (team: Team, caller: Caller): Promise<void> => {
    const agent = await fetcherOf(team, caller)
    if (agent) await watch.reportTakeovers([{ sessionId: agent.session.id, isGiven: true, atMs: clock.nowMs() }])
  }

  const pull = async (team: Team, caller: Caller): Promise<PulledMail[]> => {
    const agent = await fetcherOf(team, caller)
    if (!agent || (await watch.mayReturn(team.name, agent))) return []
    const pulled: Delivery[] = []
    for (const lane of lanesOf({ team: team.name })) {
      while (pulled.length < MOST_AT_ONCE) {
        const [delivery] = await desk.take({ only: [lane] }, 1)
        if (!delivery) break
        if (!isMail(delivery)) {
          await desk.giveBack(delivery, delivery.outcome === null ? because("owner_words_typed") : undefined)
          break
        }
        if (!(await desk.begin(delivery, agent, "pull"))) break
        await store.transaction(async (tx) => {
          if (await settleLeased(tx, delivery, "delivered", clock.nowMs()))
            await moveOn(tx, { ...delivery, state: "delivered" }, ["seen", "running"], clock.nowMs())
        })
        desk.drop(delivery)
        pulled.push(delivery)
      }
    }
    pulled.sort((a, b) => (comesBefore(a, b) ? -1 : 1))
    return pulled.map((delivery) => ({ id: delivery.key, text: mailText(delivery), atMs: delivery.createdAtMs }))
  }
  return { beforePull, pull }
}
