import { setTimeout as sleep } from "node:timers/promises"
import { makeBell } from "../../domain/bell.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { type Address, addressOf, lanesOf, messageOf } from "../../domain/message.ts"
import { because } from "../../domain/reason.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { type Desk, LEASE_MS } from "./desk.ts"
import type { HandedOver } from "./hand-over.ts"
import type { Closed, Ladder, Way } from "./ladder.ts"
import type { Parking } from "./parking.ts"
import type { Precedence } from "./precedence.ts"
import type { Recovery } from "./recovery.ts"
import { isNobody, placeOf, type Whom } from "./whom.ts"

/** Brings messages to agents, one at a time for each of them, agents side by side, until the signal. */
export interface Courier {
  run(signal: AbortSignal): Promise<void>
  /** Something happened that may open a way there. A hint; losing one costs seconds. */
  nudge(to: Address): void
  /** Somebody else has handed it over, and it is to be settled by evidence. */
  watch(delivery: Delivery): void
}

export interface CourierDeps {
  clock: Clock
  desk: Desk
  whom: Whom
  ladder: Ladder
  precedence: Precedence
  parking: Parking
  recovery: Recovery
  handOver(way: Way, delivery: Delivery, signal: AbortSignal): Promise<HandedOver>
  /** One at a time for each place. */
  inTurn<T>(place: string, act: () => Promise<T>): Promise<T>
  /** Nobody is there: starts a session where the team allows it. */
  wake(team: string): Promise<unknown>
  /** From time to time: moves on what no hook tells of. */
  progress(): Promise<void>
  onTrouble(error: unknown, what: string): void
}

const MOST_IN_HAND = 64
const POLL_MS = 2_000
/** Many have something at the same moment, and one look serves them all. */
const GATHER_MS = 10
const CUT_OFF_MS = 5_000

export function makeCourier(deps: CourierDeps): Courier {
  const { clock, desk, whom, ladder, precedence, parking, recovery, handOver, inTurn, onTrouble } = deps
  const working = new Set<Promise<void>>()
  const bell = makeBell()
  /** Lanes that let another message go first, by place: tried again as soon as that one is handed over. */
  const givingWay = new Map<string, Set<string>>()
  let lastCutOffMs = 0
  let ending: AbortSignal = AbortSignal.abort()

  const putOff = async (delivery: Delivery, { reason, until }: Pick<Closed, "reason" | "until">) => {
    parking.park(delivery.lane, until, clock.nowMs())
    await desk.giveBack(delivery, reason)
  }

  const giveWay = (delivery: Delivery, first: Delivery, place: string) => {
    const lanes = givingWay.get(place) ?? new Set()
    givingWay.set(place, lanes.add(delivery.lane))
    // Its way was just seen to be open, whatever it was put off for.
    parking.release([first.lane])
    return putOff(delivery, { reason: because("other_first"), until: "idle" })
  }

  const resumeAfter = (delivery: Delivery, place: string) => {
    const lanes = givingWay.get(place)
    givingWay.delete(place)
    if (lanes) parking.release([...lanes].filter((lane) => lane !== delivery.lane))
  }

  const deliver = async (delivery: Delivery, signal: AbortSignal) => {
    const to = addressOf(delivery)
    const found = await whom(to)
    if (isNobody(found)) {
      if (found.awayTeam !== undefined) await deps.wake(found.awayTeam)
      return putOff(delivery, { reason: found.nobody, until: "somebody" })
    }
    const place = placeOf(found)
    const isOpen = await inTurn(place, async () => {
      // Others may have been at it meanwhile, and the agent may have gone.
      const agent = await whom(to)
      if (isNobody(agent)) return putOff(delivery, { reason: agent.nobody, until: "somebody" })
      if (placeOf(agent) !== place) return putOff(delivery, { reason: because("agent_moved"), until: "idle" })
      const way = await ladder.find(agent, delivery)
      if (way.rung === undefined) return putOff(delivery, way)
      const first = await precedence(delivery, agent)
      if (first) {
        if (way.rung === "line") way.line.close()
        return giveWay(delivery, first, place)
      }
      const result = await handOver(way, delivery, signal)
      if (result.kind === "closed") return putOff(delivery, result)
      // The agent is at this one now, and says when it has done.
      if (way.rung === "pane" && isNormal(delivery)) parking.rest(delivery.lane, clock.nowMs())
      else parking.clear(delivery.lane)
      resumeAfter(delivery, place)
      return result.kind === "unconfirmed"
    })
    if (isOpen) await recovery.settle(delivery, signal)
  }

  const start = (delivery: Delivery, work: Promise<void>) => {
    const done = work
      .catch((error: unknown) => {
        // What was begun stays leased until it is known what became of it.
        desk.drop(delivery)
        parking.park(delivery.lane, "somebody", clock.nowMs())
        onTrouble(error, delivery.key)
      })
      .finally(() => {
        working.delete(done)
        bell.ring()
      })
    working.add(done)
  }

  const round = async (signal: AbortSignal) => {
    const nowMs = clock.nowMs()
    if (nowMs - lastCutOffMs >= CUT_OFF_MS) {
      lastCutOffMs = nowMs
      for (const delivery of await desk.takeCutOff(MOST_IN_HAND)) start(delivery, recovery.settle(delivery, signal))
    }
    const room = MOST_IN_HAND - desk.size
    if (room <= 0) return
    for (const delivery of await desk.take({ except: parking.parked(nowMs) }, room))
      start(delivery, deliver(delivery, signal))
  }

  return {
    async run(signal) {
      ending = signal
      const every = (everyMs: number, name: string, round: () => Promise<void>) =>
        superviseLoop({ name, signal, everyMs, round, onTrouble })
      const beside = [
        every(LEASE_MS / 3, "message leases", desk.renew),
        every(POLL_MS, "message progress", deps.progress),
      ]
      let isOpen = false
      const stop = () => bell.ring()
      signal.addEventListener("abort", stop)
      await superviseLoop({
        name: "message queue",
        signal,
        onTrouble,
        async round(_, alive) {
          if (!isOpen) await desk.open()
          isOpen = true
          await round(signal)
          alive()
          await bell.wait(Math.min(POLL_MS, parking.nextMs(clock.nowMs()) ?? POLL_MS))
          await sleep(GATHER_MS)
        },
      })
      await Promise.all(beside)
      signal.removeEventListener("abort", stop)
      await Promise.all(working)
    },
    nudge(to) {
      parking.release(lanesOf(to))
      bell.ring()
    },
    watch: (delivery) => start(delivery, recovery.settle(delivery, ending)),
  }
}

const isNormal = (delivery: Delivery) => messageOf(delivery).priority === "normal"
