import type { Delivery } from "../domain/delivery.ts"
import type { LiveAgent } from "../domain/live.ts"
import { type Address, addressOf, comesBefore, lanesOf } from "../domain/message.ts"
import type { Store } from "../domain/store.ts"
import { isUnreachable, type ResolveTarget } from "./resolve-target.ts"
import type { RouteSelection } from "./select-route.ts"

/**
 * The waiting message that must reach the agent before this one: a more urgent one, or an older one of the same urgency.
 * A message that no way is open for blocks nobody: the owner's words outside tmux can wait while mail is handed over.
 */
export type Precedence = (delivery: Delivery, agent: LiveAgent) => Promise<Delivery | undefined>

export function makePrecedence({
  store,
  resolveTarget,
  routes,
}: {
  store: Pick<Store, "deliveries">
  resolveTarget: ResolveTarget
  routes: RouteSelection
}): Precedence {
  const isFor = async (to: Address, { session }: LiveAgent) => {
    const found = await resolveTarget(to)
    return !isUnreachable(found) && found.session.id === session.id
  }
  const canGo = async (delivery: Delivery, agent: LiveAgent) => {
    const route = await routes.select(agent, delivery)
    if (route.kind === "line") route.line.close()
    return route.kind !== "closed"
  }

  return async (delivery, agent) => {
    const heads = await store.deliveries.heads(lanesTo(agent))
    const earlier = heads.filter((head) => head.lane !== delivery.lane && comesBefore(head, delivery))
    for (const head of earlier.sort((a, b) => (comesBefore(a, b) ? -1 : 1))) {
      if (!(await isFor(addressOf(head), agent))) continue
      // Under way and not confirmed: it may have to be sent again, and comes first then.
      if (head.attemptStartedAtMs !== null || (await canGo(head, agent))) return head
    }
    return undefined
  }
}

/** All lanes that may lead to the agent. */
export function lanesTo({ session, teams }: Pick<LiveAgent, "session" | "teams">): string[] {
  return [{ sessionId: session.id }, ...teams.map((team): Address => ({ team }))].flatMap(lanesOf)
}
