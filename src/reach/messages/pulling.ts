import type { Caller } from "../../domain/caller.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { lanesOf } from "../../domain/message.ts"
import type { Store } from "../../domain/store.ts"
import type { Team } from "../../domain/team.ts"
import type { Desk } from "../courier/desk.ts"
import type { LiveSessions } from "../watching/live.ts"
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
}: {
  store: Store
  clock: Clock
  desk: Desk
  live: LiveSessions
}) {
  return async (team: Team, { nativeSession }: Caller): Promise<PulledMail[]> => {
    const agents = await live.ofTeam(team)
    const agent = nativeSession ? agents.find(({ session }) => session.nativeId === nativeSession.id) : agents[0]
    if (!agent) return []
    const pulled: Delivery[] = []
    for (const lane of lanesOf({ team: team.name }).toReversed()) {
      while (pulled.length < MOST_AT_ONCE) {
        const [delivery] = await desk.take({ only: [lane] }, 1)
        if (!delivery) break
        if (!isMail(delivery)) {
          await desk.giveBack(delivery, delivery.outcome ?? "the owner's own words are typed")
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
    return pulled.map((delivery) => ({ id: delivery.key, text: mailText(delivery), atMs: delivery.createdAtMs }))
  }
}
