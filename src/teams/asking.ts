/** The dispatcher of questions: one at a time for each pair, pairs in parallel. */

import type { Delivery } from "../domain/delivery.ts"
import type { DrivenSession } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import {
  type AskPayload,
  askOf,
  NOTICE_CHANNEL,
  PAIR_CHANNEL,
  type Pair,
  pairLane,
  unreadableAsk,
} from "../domain/pair.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Roster } from "../domain/team.ts"
import { makeBackoff } from "../lib/backoff.ts"
import { after } from "../lib/clock.ts"
import { makeLaneRunner } from "../lib/lane-runner.ts"
import { makeLeases } from "../lib/leases.ts"
import { conclude, isFinal, isWithAgent, move, WITH_AGENT } from "../lib/transitions.ts"
import { isInOpenSession, type OpenSessionDelivery } from "./open-session.ts"
import type { Pool } from "./pool.ts"
import type { AskRecovery } from "./recovery.ts"
import { type AskTurnDeps, runTurn } from "./turn.ts"
export interface Asking {
  run(signal: AbortSignal): Promise<void>
  /** Wakes the dispatcher. */
  ring(): void
  /** The question that the pair's agent is working on. */
  current(pairId: string): AskPayload | undefined
  /** The questions that the team's agents are working on, of all pairs. */
  currentOf(team: string): AskPayload[]
  /** Ends its turn, or removes it from the lane. False if it was settled already. */
  cancel(id: string): Promise<boolean>
  /** Runs the work while no question is sent to the pair. Refused while its agent is busy. */
  alone<T>(pair: Pair, work: () => Promise<T>): Promise<T>
  /** The message that the pair's agent is working on. */
  atWork(pairId: string): string | undefined
}

export interface AskingDeps extends AskTurnDeps {
  roster: Roster
  pool: Pool
  recovery: AskRecovery
  openSession: OpenSessionDelivery
  host: string
  ownerPrefix: string
  /** Whether a process that is not ours, such as a person's, has the session open. */
  isOpenElsewhere(platform: string, nativeId: string): Promise<boolean>
}

interface InHand {
  delivery: Delivery | undefined
  session: DrivenSession | undefined
  isCancelled: boolean
  done: Promise<void>
}

const RETRY_MS = 1_000
const OPEN_MS = 1_000
/** A cancelled turn has this long to end; then its process is ended. */
const CANCEL_MS = 700

export function makeAsking(deps: AskingDeps): Asking {
  const { store, clock, roster, pool, recovery, openSession, host, onChanged, onTrouble } = deps
  const inHand = new Map<string, InHand>()
  const leases = makeLeases({
    ...{ ...deps, channel: PAIR_CHANNEL, expires: [PAIR_CHANNEL, NOTICE_CHANNEL] },
    payload: { misfit: askOf.misfit, placeholder: unreadableAsk },
  })
  const backoff = makeBackoff({})
  let isAllKnown = false

  const settle = async (delivery: Delivery, state: "failed" | "cancelled", reason: Reason) => {
    await store.transaction((tx) => conclude(tx, delivery, state, clock.nowMs(), reason))
    onChanged(delivery.key)
  }
  const putOff = async (delivery: Delivery, reason: Reason, ms: number) => {
    backoff.pauseFor(delivery.lane, ms, clock.nowMs())
    await leases.giveBack(delivery, reason.words)
  }

  const ask = async (delivery: Delivery, mine: InHand, signal: AbortSignal): Promise<void> => {
    const payload = askOf(delivery)
    const { pairId, toTeam, ifOpen } = payload
    const team = roster.byName(toTeam)
    const pair = await store.pairs.byId(pairId)
    if (!team || !pair) return settle(delivery, "failed", because("team_removed", toTeam))
    const isOpen = pair.nativeId !== null && !pool.processOf(pairId) && (await isOpened(pair, pair.nativeId))
    if (isInOpenSession(payload) || (isOpen && ifOpen === "deliver")) {
      const how = await openSession.deliver(delivery, pair, () => mine.isCancelled, signal).catch(refusal)
      if (how instanceof Failure) return settle(delivery, "failed", because("failed", how.message))
      return how === "closed" ? putOff(delivery, because("open_session_closed"), 0) : undefined
    }
    if (isOpen && ifOpen === "wait") return putOff(delivery, because("session_open"), OPEN_MS)
    const use = await pool.take(pair, team, { isCopy: isOpen }).catch((error: unknown) => Failure.from(error))
    if (use instanceof Failure) return settle(delivery, "failed", because("failed", use.message))
    if ("later" in use) return putOff(delivery, use.later, use.ms)
    mine.session = use.session
    try {
      await runTurn(deps, { delivery, pair, team, use, isCancelled: () => mine.isCancelled }, signal)
      onChanged(delivery.key)
    } finally {
      use.release()
    }
  }
  const isOpened = (pair: Pair, nativeId: string) => deps.isOpenElsewhere(pair.platform, nativeId).catch(() => false)

  const start = (delivery: Delivery, work: (mine: InHand, signal: AbortSignal) => Promise<void>) => {
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const mine: InHand = { delivery, session: undefined, isCancelled: false, done }
    inHand.set(delivery.lane, mine)
    runner.start(delivery, async (signal) => {
      try {
        await work(mine, signal)
      } catch (error) {
        backoff.pauseFor(delivery.lane, RETRY_MS, clock.nowMs())
        isAllKnown = false
        throw error
      } finally {
        inHand.delete(delivery.lane)
        leases.drop(delivery)
        onChanged(delivery.key)
        resolve()
      }
    })
  }
  const isFree = ({ lane }: Delivery) => !inHand.has(lane)
  const recover = (delivery: Delivery) =>
    start(delivery, (mine, signal) => recovery.settle(delivery, () => mine.isCancelled, signal))

  /** Questions that an earlier daemon had delivered; recovery settles them by the agent's records. */
  const delivered = async (): Promise<Delivery[]> => {
    const counts = await store.deliveries.counts(PAIR_CHANNEL)
    const lanes = counts.filter(({ state }) => isWithAgent(state)).map(({ lane }) => lane)
    const found = await store.deliveries.ofLanes([...new Set(lanes)], { states: WITH_AGENT })
    return found.filter((delivery) => delivery.host === null || delivery.host === host)
  }

  const runner = makeLaneRunner({
    name: "team questions",
    ...{ clock, leases, backoff, onTrouble },
    most: 64,
    handler: {
      async sweep() {
        if (!isAllKnown) for (const delivery of (await delivered()).filter(isFree)) recover(delivery)
        isAllKnown = true
      },
      recover: (delivery) => (isFree(delivery) ? recover(delivery) : leases.drop(delivery)),
      except: () => inHand.keys(),
      take: (delivery) => start(delivery, (mine, signal) => ask(delivery, mine, signal)),
      failed: ({ key }, error) => onTrouble(error, key),
      close: pool.close,
    },
  })

  return {
    run: runner.run,
    ring() {
      backoff.release()
      runner.ring()
    },
    current(pairId) {
      const { delivery } = inHand.get(pairLane(pairId)) ?? {}
      return delivery && askOf(delivery)
    },
    currentOf: (team) =>
      [...inHand.values()]
        .flatMap(({ delivery }) => (delivery ? [askOf(delivery)] : []))
        .filter(({ toTeam }) => toTeam === team),
    atWork: (pairId) => inHand.get(pairLane(pairId))?.delivery?.key,
    async cancel(id) {
      const delivery = await store.deliveries.byKey(id)
      if (!delivery || isFinal(delivery.state)) return false
      const mine = [...inHand.values()].find((one) => one.delivery?.key === id)
      if (mine) {
        mine.isCancelled = true
        if (mine.session) {
          await endTurn(mine.session, mine.done)
          return true
        }
        // A question for an open session is cancelled or withdrawn there first, and reported then.
        const isForOpen = () => isInOpenSession(askOf(mine.delivery!))
        if (isForOpen()) await mine.done
        // While its process starts, the question has not been sent.
        await settle(delivery, "cancelled", CANCELLED)
        if (isForOpen()) await mine.done
        return true
      }
      const isTaken = await store.transaction((tx) =>
        move(tx, delivery, ["queued"], "cancelled", clock.nowMs(), CANCELLED),
      )
      onChanged(id)
      return isTaken
    },
    async alone(pair, work) {
      const lane = pairLane(pair.id)
      if (inHand.has(lane)) throw new Failure("agent_busy", "the agent of this pair is at something")
      inHand.set(lane, { delivery: undefined, session: undefined, isCancelled: false, done: Promise.resolve() })
      try {
        return await work()
      } finally {
        inHand.delete(lane)
        runner.ring()
      }
    },
  }
}

/** The message was rejected for what it is: a retry cannot succeed. */
function refusal(error: unknown): Failure {
  if (error instanceof Failure && (error.code === "bad_input" || error.code === "too_large")) return error
  throw error
}

const CANCELLED = because("cancelled")

/** Ends the process of a session that ignores the cancellation: the next question starts another. */
async function endTurn(session: DrivenSession, done: Promise<void>): Promise<void> {
  const cancel = after(CANCEL_MS, () => void session.close().catch(() => {}))
  session.cancel().catch(() => {})
  await done
  cancel()
}
