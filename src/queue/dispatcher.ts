import type { Delivery } from "../domain/delivery.ts"
import { type Address, addressOf, lanesOf, messageOf } from "../domain/message.ts"
import { because } from "../domain/reason.ts"
import type { Clock } from "../lib/clock.ts"
import { makeLaneRunner } from "../lib/lane-runner.ts"
import { superviseLoop } from "../lib/supervised-loop.ts"
import type { DeliverResult } from "./deliver.ts"
import type { MessageLeases } from "./message-leases.ts"
import type { Precedence } from "./precedence.ts"
import type { Recovery } from "./recovery.ts"
import { isUnreachable, placeOf, type ResolveTarget } from "./resolve-target.ts"
import type { ClosedRoute, LaneBackoff, OpenRoute, RouteSelection } from "./select-route.ts"

/** Brings messages to agents, one at a time for each of them, agents side by side, until the signal. */
export interface Dispatcher {
  run(signal: AbortSignal): Promise<void>
  /** Something happened that may open a way there. A hint; losing one costs seconds. */
  nudge(to: Address): void
  /** Somebody else has handed it over, and it is to be settled by evidence. */
  watch(delivery: Delivery): void
}

export interface DispatcherDeps {
  clock: Clock
  leases: MessageLeases
  resolveTarget: ResolveTarget
  routes: RouteSelection
  precedence: Precedence
  backoff: LaneBackoff
  recovery: Recovery
  deliver(route: OpenRoute, delivery: Delivery, signal: AbortSignal): Promise<DeliverResult>
  /** One at a time for each place. */
  inTurn<T>(place: string, act: () => Promise<T>): Promise<T>
  /** Nobody is there: starts a session where the team allows it. */
  wake(team: string): Promise<unknown>
  /** From time to time: moves on what no hook tells of. */
  progress(): Promise<void>
  onTrouble(error: unknown, what: string): void
}

const PROGRESS_MS = 2_000
/** A busy agent's end of turn is told; this is for the end that is not. */
const REST_MS = 250

export function makeDispatcher(deps: DispatcherDeps): Dispatcher {
  const { clock, leases, resolveTarget, routes, precedence, backoff, recovery, deliver, inTurn, onTrouble } = deps
  /** Lanes that let another message go first, by place: tried again as soon as that one is handed over. */
  const givingWay = new Map<string, Set<string>>()

  const putOff = async (delivery: Delivery, { reason, until }: Pick<ClosedRoute, "reason" | "until">) => {
    backoff.pause(delivery.lane, until, clock.nowMs())
    await leases.giveBack(delivery, reason)
  }

  const giveWay = (delivery: Delivery, first: Delivery, place: string) => {
    const lanes = givingWay.get(place) ?? new Set()
    givingWay.set(place, lanes.add(delivery.lane))
    // Its way was just seen to be open, whatever it was put off for.
    backoff.release([first.lane])
    return putOff(delivery, { reason: because("other_first"), until: "idle" })
  }

  const resumeAfter = (delivery: Delivery, place: string) => {
    const lanes = givingWay.get(place)
    givingWay.delete(place)
    if (lanes) backoff.release([...lanes].filter((lane) => lane !== delivery.lane))
  }

  const dispatch = async (delivery: Delivery, signal: AbortSignal) => {
    const to = addressOf(delivery)
    const found = await resolveTarget(to)
    if (isUnreachable(found)) {
      if (found.awayTeam !== undefined) await deps.wake(found.awayTeam)
      return putOff(delivery, { reason: found.unreachable, until: "reachable" })
    }
    const place = placeOf(found)
    const isOpen = await inTurn(place, async () => {
      // Others may have been at it meanwhile, and the agent may have gone.
      const agent = await resolveTarget(to)
      if (isUnreachable(agent)) return putOff(delivery, { reason: agent.unreachable, until: "reachable" })
      if (placeOf(agent) !== place) return putOff(delivery, { reason: because("agent_moved"), until: "idle" })
      const route = await routes.select(agent, delivery)
      if (route.kind === "closed") return putOff(delivery, route)
      const first = await precedence(delivery, agent)
      if (first) {
        if (route.kind === "line") route.line.close()
        return giveWay(delivery, first, place)
      }
      const result = await deliver(route, delivery, signal)
      if (result.kind === "closed") return putOff(delivery, result)
      // The agent is at this one now, and says when it has done.
      if (route.kind === "pane" && isNormal(delivery)) backoff.pauseFor(delivery.lane, REST_MS, clock.nowMs(), "idle")
      else backoff.clear(delivery.lane)
      resumeAfter(delivery, place)
      return result.kind === "unconfirmed"
    })
    if (isOpen) await recovery.settle(delivery, signal)
  }

  const settle = (delivery: Delivery) => runner.start(delivery, (signal) => recovery.settle(delivery, signal))
  const runner = makeLaneRunner({
    name: "message queue",
    clock,
    leases,
    backoff,
    most: 64,
    gatherMs: 10,
    onTrouble,
    handler: {
      take: (delivery) => runner.start(delivery, (signal) => dispatch(delivery, signal)),
      recover: settle,
      failed({ lane, key }, error) {
        backoff.pause(lane, "reachable", clock.nowMs())
        onTrouble(error, key)
      },
    },
  })

  return {
    async run(signal) {
      const round = deps.progress
      const progress = superviseLoop({ name: "message progress", signal, everyMs: PROGRESS_MS, round, onTrouble })
      await Promise.all([runner.run(signal), progress])
    },
    nudge(to) {
      backoff.release(lanesOf(to))
      runner.ring()
    },
    watch: settle,
  }
}

const isNormal = (delivery: Delivery) => messageOf(delivery).priority === "normal"
