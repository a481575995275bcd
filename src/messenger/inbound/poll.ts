import type { Channel, ChannelTrouble, RawUpdate } from "../../domain/channel.ts"
import type { BotState } from "../../domain/channel-store.ts"
import type { Store } from "../../domain/store.ts"
import { makeBell } from "../../lib/bell.ts"
import type { Clock } from "../../lib/clock.ts"
import { superviseLoop } from "../../lib/supervised-loop.ts"
import { admit } from "./admit.ts"

export interface PollDeps {
  store: Store
  clock: Clock
  channel: Channel
  /** channel:botId */
  bot: string
  /** The same for each daemon of this data directory: it need not wait for its predecessor's role to expire. */
  owner: string
  onAdmitted(): void
  onTrouble(error: unknown, what: string): void
  pace?: Partial<PollPace>
}

export const PACE = {
  pollSeconds: 25,
  roleMs: 60_000,
  /** Another daemon with this store polls; it may end. */
  standbyMs: 5_000,
  /** A program that was undisturbed for so long stays when another one comes; the newcomer gives way. */
  steadyMs: 10_000,
  stayMs: 1_000,
  /** The pause after giving way, and then how long to probe for another program. */
  conflictMs: 62_000,
  probeSeconds: 8,
  untakenMs: 20_000,
  awayMs: 1_000,
  awayMostMs: 60_000,
  unauthorisedMs: 60_000,
  unauthorisedMostMs: 600_000,
}
export type PollPace = typeof PACE

/** Polls for updates until the signal, and stores each batch before the next poll. */
export function makePoller({ store, clock, channel, bot, owner, onAdmitted, onTrouble, pace: given }: PollDeps) {
  const pace = { ...PACE, ...given }
  const role = `poll:${bot}`
  const hold = (on: Store) => on.roles.hold(role, owner, pace.roleMs, clock.nowMs())
  let failures = 0
  let steadySinceMs: number | undefined
  let isProbing = false
  /** Seen at the last poll and left there, because another program might take it. */
  let untaken: number | undefined
  /** Since when every poll was answered or is still open; and whether one was answered at all. */
  let listeningSinceMs: number | undefined
  let hasHeard = false

  const become = async (state: BotState, why: string | null) => {
    const nowMs = clock.nowMs()
    await store.transaction(async (tx) => {
      // A bot that works from the start is not reported.
      const isNews = state !== "ok" || (await tx.bots.byId(bot)) !== undefined
      if ((await tx.bots.setState(bot, state, why, nowMs)) && isNews)
        await tx.journal.append([{ kind: `bot.${state}`, atMs: nowMs, data: { bot, state, ...(why ? { why } : {}) } }])
    })
  }

  const takeIn = async (batch: RawUpdate[]) => {
    await store.transaction(async (tx) => {
      // The daemon that has the role now gets the same updates.
      if (!(await hold(tx))) throw new Error("another daemon asks for the updates now")
      await admit(tx, { channel, bot, batch, nowMs: clock.nowMs() })
    })
    onAdmitted()
  }

  const giveWay = async (why: string) => {
    steadySinceMs = undefined
    isProbing = true
    untaken = undefined
    await become("conflict", why)
    return pace.conflictMs
  }

  /** After a conflict: leaves updates to another program. Undefined when there is none. */
  const othersTurn = async (batch: RawUpdate[]): Promise<number | undefined> => {
    const isEarly = batch.length > 0
    const isLeft = batch.some(({ updateId }) => updateId === untaken)
    if (!isEarly || isLeft) return undefined
    if (untaken !== undefined) return giveWay("another program polls this bot's updates, and takes them")
    untaken = batch[0]!.updateId
    return pace.untakenMs
  }

  const onAnswer = async (batch: RawUpdate[], known: BotState | undefined): Promise<number> => {
    failures = 0
    if (isProbing) {
      const waitMs = await othersTurn(batch)
      if (waitMs !== undefined) return waitMs
      isProbing = false
      untaken = undefined
      steadySinceMs = clock.nowMs()
    }
    if (batch.length > 0) await takeIn(batch)
    if (known !== "ok") await become("ok", null)
    return 0
  }

  const onRefusal = async (trouble: ChannelTrouble): Promise<number> => {
    if (trouble.kind === "wait") return Math.max(trouble.forMs, pace.awayMs)
    const why = "why" in trouble ? trouble.why : trouble.kind
    if (trouble.kind === "conflict") {
      const nowMs = clock.nowMs()
      const isSteady = !isProbing && steadySinceMs !== undefined && nowMs - steadySinceMs >= pace.steadyMs
      if (!isSteady) return giveWay(why)
      steadySinceMs = nowMs
      return pace.stayMs
    }
    failures++
    // Another program may have started meanwhile.
    steadySinceMs = undefined
    if (trouble.kind === "unauthorised") {
      await become("unauthorised", why)
      return backOff(pace.unauthorisedMs, pace.unauthorisedMostMs, failures)
    }
    // A single broken connection is not reported.
    if (failures > 1) await become("away", why)
    return backOff(pace.awayMs, pace.awayMostMs, failures)
  }

  /** Polls once, and returns the pause before the next poll. */
  const ask = async (signal: AbortSignal): Promise<number> => {
    if (!(await hold(store))) {
      steadySinceMs = undefined
      return pace.standbyMs
    }
    const known = await store.bots.byId(bot)
    steadySinceMs ??= clock.nowMs()
    // Short after trouble, but long enough for another program to poll again.
    const isWell = !isProbing && known?.state === "ok" && failures === 0
    const seconds = isWell ? pace.pollSeconds : pace.probeSeconds
    const askedAtMs = clock.nowMs()
    listeningSinceMs ??= askedAtMs
    const told = await channel.poll({ offset: known?.nextOffset ?? null, seconds, signal })
    if (signal.aborted) return 0
    if (!told.ok) {
      listeningSinceMs = undefined
      return onRefusal(told.trouble)
    }
    hasHeard = true
    const waitMs = await onAnswer(told.value, known?.state)
    // Don't spin on empty answers that come at once.
    return told.value.length > 0 ? waitMs : Math.max(waitMs, pace.awayMs - (clock.nowMs() - askedAtMs))
  }

  return {
    /** Since when all updates have arrived; undefined while unknown. */
    listeningSinceMs(): number | undefined {
      const isFirst = !hasHeard && listeningSinceMs !== undefined && clock.nowMs() - listeningSinceMs < FIRST_ANSWER_MS
      return isFirst ? undefined : listeningSinceMs
    },
    async run(signal: AbortSignal): Promise<void> {
      const bell = makeBell({ signal })
      await superviseLoop({
        name: "telegram updates",
        signal,
        onTrouble,
        firstRetryMs: pace.awayMs,
        mostRetryMs: pace.awayMostMs,
        async round(_, alive) {
          const waitMs = await ask(signal)
          alive()
          if (waitMs > 0) await bell.pause(waitMs)
        },
      })
      await store.roles.release(role, owner).catch(() => {})
    },
  }
}

/** The backlog arrives within this time. */
const FIRST_ANSWER_MS = 5_000

const backOff = (firstMs: number, mostMs: number, times: number) => Math.min(mostMs, firstMs * 2 ** (times - 1))
