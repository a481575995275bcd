import { makeBell } from "../domain/bell.ts"
import type { Delivery } from "../domain/delivery.ts"
import type { DrivenSession } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import { type AskPayload, askOf, NOTICE_CHANNEL, PAIR_CHANNEL, type Pair, pairLane } from "../domain/pair.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Roster } from "../domain/team.ts"
import { superviseLoop } from "../lib/supervised-loop.ts"
import { conclude, isFinal, stateEntry, WITH_AGENT } from "./entries.ts"
import { type Handing, isHanded } from "./handing.ts"
import type { Pool } from "./pool.ts"
import type { Recovery } from "./recovery.ts"
import { runTurn, type TurnDeps } from "./turn.ts"

/** The courier of questions: one at a time for each pair, pairs side by side, until the signal. */
export interface Asking {
  run(signal: AbortSignal): Promise<void>
  /** There may be something to do. */
  ring(): void
  /** What the pair's agent is at. */
  current(pairId: string): AskPayload | undefined
  /** What the team's agents are at, for whichever pair. */
  currentOf(team: string): AskPayload[]
  /** Ends its turn, or takes it back. False with its state when it is settled already. */
  cancel(id: string): Promise<boolean>
  /** Nothing is asked of the pair meanwhile. Refused while its agent is at something. */
  alone<T>(pair: Pair, work: () => Promise<T>): Promise<T>
  /** The message that the pair's agent is at. */
  atWork(pairId: string): string | undefined
}

export interface AskingDeps extends TurnDeps {
  roster: Roster
  pool: Pool
  recovery: Recovery
  handing: Handing
  host: string
  ownerPrefix: string
  owner: string
  /** A process that is not ours has the session: a person has it open. */
  isOpenElsewhere(platform: string, nativeId: string): Promise<boolean>
}

interface InHand {
  delivery: Delivery | undefined
  session: DrivenSession | undefined
  isCancelled: boolean
  done: Promise<void>
}

const LEASE_MS = 30_000
const MOST_IN_HAND = 64
const POLL_MS = 2_000
const CUT_OFF_MS = 5_000
const RETRY_MS = 1_000
const OPEN_MS = 1_000
/** Until then a turn that was cancelled ends by itself; then its process is ended. */
const CANCEL_MS = 700

export function makeAsking(deps: AskingDeps): Asking {
  const { store, clock, roster, pool, recovery, handing, host, ownerPrefix, owner, onChanged, onTrouble } = deps
  const inHand = new Map<string, InHand>()
  const parked = new Map<string, number>()
  const working = new Set<Promise<void>>()
  const bell = makeBell()
  let lastCutOffMs = 0
  let isAllKnown = false

  const settle = async (delivery: Delivery, state: "failed" | "cancelled", reason: Reason) => {
    await store.transaction((tx) => conclude(tx, delivery, state, clock.nowMs(), reason))
    onChanged(delivery.key)
  }
  const putOff = async (delivery: Delivery, reason: Reason, ms: number) => {
    parked.set(delivery.lane, clock.nowMs() + ms)
    const { seq, dueAtMs } = delivery
    await store.transaction((tx) => tx.deliveries.retry(seq, owner, dueAtMs, reason.words, { isSpared: true }), {
      readAgain: true,
    })
  }

  const ask = async (delivery: Delivery, mine: InHand, signal: AbortSignal): Promise<void> => {
    const payload = askOf(delivery)
    const { pairId, toTeam, ifOpen } = payload
    const team = roster.byName(toTeam)
    const pair = await store.pairs.byId(pairId)
    if (!team || !pair) return settle(delivery, "failed", because("team_removed", toTeam))
    const isOpen = pair.nativeId !== null && !pool.processOf(pairId) && (await isOpened(pair, pair.nativeId))
    if (isHanded(payload) || (isOpen && ifOpen === "deliver")) {
      const how = await handing.hand(delivery, pair, () => mine.isCancelled, signal).catch(refusal)
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

  const start = (delivery: Delivery, work: (mine: InHand) => Promise<void>) => {
    const mine: InHand = { delivery, session: undefined, isCancelled: false, done: Promise.resolve() }
    inHand.set(delivery.lane, mine)
    const done = work(mine)
      .catch((error: unknown) => {
        // What was begun stays leased until it is known what became of it.
        parked.set(delivery.lane, clock.nowMs() + RETRY_MS)
        isAllKnown = false
        onTrouble(error, delivery.key)
      })
      .finally(() => {
        working.delete(done)
        inHand.delete(delivery.lane)
        onChanged(delivery.key)
        bell.ring()
      })
    mine.done = done
    working.add(done)
  }

  const request = (limit: number) => ({ owner, host, leaseMs: LEASE_MS, limit, channels: [PAIR_CHANNEL] })
  const isFree = ({ lane }: Delivery) => !inHand.has(lane)

  const recover = (cutOff: Delivery[], signal: AbortSignal) => {
    for (const delivery of cutOff.filter(isFree))
      start(delivery, async (mine) => recovery.settle(delivery, () => mine.isCancelled, signal))
  }

  /** Those that a daemon before this one had handed over: what became of them stands in the agent's records. */
  const handedOver = async (): Promise<Delivery[]> => {
    const counts = await store.deliveries.counts(PAIR_CHANNEL)
    const lanes = counts.filter(({ state }) => WITH_AGENT.includes(state as never)).map(({ lane }) => lane)
    const found = await store.deliveries.ofLanes([...new Set(lanes)], { states: WITH_AGENT })
    return found.filter((delivery) => delivery.host === null || delivery.host === host)
  }

  const lease = (except: string[], room: number) =>
    // A lease that a power cut undoes is taken again: no disk is waited for.
    store.transaction(
      async (tx) => {
        const nowMs = clock.nowMs()
        for (const channel of [PAIR_CHANNEL, NOTICE_CHANNEL]) {
          const expired = await tx.deliveries.expire(channel, nowMs)
          await tx.journal.append(expired.map((one) => stateEntry(one, "expired", nowMs, because("expired"))))
        }
        return tx.deliveries.lease({ ...request(room), exceptLanes: except }, nowMs)
      },
      { readAgain: true },
    )

  const round = async (signal: AbortSignal) => {
    const nowMs = clock.nowMs()
    if (nowMs - lastCutOffMs >= CUT_OFF_MS) {
      lastCutOffMs = nowMs
      if (!isAllKnown) recover(await handedOver(), signal)
      isAllKnown = true
      recover(await store.deliveries.cutOff(request(MOST_IN_HAND), nowMs), signal)
    }
    for (const [lane, untilMs] of parked) if (untilMs <= nowMs) parked.delete(lane)
    const room = MOST_IN_HAND - inHand.size
    if (room <= 0) return
    const found = await lease([...inHand.keys(), ...parked.keys()], room)
    for (const delivery of found) start(delivery, (mine) => ask(delivery, mine, signal))
  }

  const renew = async () => {
    for (const { delivery } of inHand.values())
      if (delivery) await store.deliveries.renew(delivery.seq, owner, LEASE_MS, clock.nowMs())
  }

  const nextMs = () =>
    Math.max(10, Math.min(POLL_MS, ...[...parked.values()].map((untilMs) => untilMs - clock.nowMs())))

  return {
    async run(signal) {
      const everyMs = LEASE_MS / 3
      const renewing = superviseLoop({ name: "question leases", signal, everyMs, round: renew, onTrouble })
      let isOpen = false
      const stop = () => bell.ring()
      signal.addEventListener("abort", stop)
      await superviseLoop({
        name: "team questions",
        signal,
        onTrouble,
        async round(_, alive) {
          if (!isOpen) await store.deliveries.endLeases(ownerPrefix, owner, clock.nowMs())
          isOpen = true
          await round(signal)
          alive()
          await bell.wait(nextMs())
        },
      })
      await renewing
      signal.removeEventListener("abort", stop)
      await pool.close()
      await Promise.all(working)
    },
    ring() {
      parked.clear()
      bell.ring()
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
        // What is for an open session is taken back or withdrawn there before anybody is told so.
        const isForOpen = () => isHanded(askOf(mine.delivery!))
        if (isForOpen()) await mine.done
        // While its process starts nothing was said to it yet.
        await settle(delivery, "cancelled", CANCELLED)
        if (isForOpen()) await mine.done
        return true
      }
      const isTaken = await store.transaction(async (tx) => {
        if (!(await tx.deliveries.move(delivery.seq, ["queued"], "cancelled", CANCELLED.words, clock.nowMs())))
          return false
        await tx.journal.append([stateEntry(delivery, "cancelled", clock.nowMs(), CANCELLED)])
        return true
      })
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
        bell.ring()
      }
    },
  }
}

/** It was not taken as a message at all, and never will be. */
function refusal(error: unknown): Failure {
  if (error instanceof Failure && (error.code === "bad_input" || error.code === "too_large")) return error
  throw error
}

const CANCELLED = because("cancelled")

/** One that does not listen is ended with its process: the next question starts another. */
async function endTurn(session: DrivenSession, done: Promise<void>): Promise<void> {
  const late = setTimeout(() => void session.close().catch(() => {}), CANCEL_MS)
  session.cancel().catch(() => {})
  await done
  clearTimeout(late)
}
