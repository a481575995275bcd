/** Accepts questions between teams, each key once, and reports their state until they are settled. */
import type { Delivery, DeliveryState } from "../domain/delivery.ts"
import { Failure } from "../domain/failure.ts"
import { newMessageId } from "../domain/ids.ts"
import {
  type AskPayload,
  askerOf,
  askOf,
  type IfOpen,
  MAIN_THREAD,
  NOTICE_CHANNEL,
  type NoticePayload,
  noticeOf,
  PAIR_CHANNEL,
  pairLane,
} from "../domain/pair.ts"
import { because, shownReason } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Team } from "../domain/team.ts"
import { type Clock, every } from "../lib/clock.ts"
import { DAY_MS } from "../lib/time.ts"
import { checkText, enqueue, isFinal, MAX_ATTEMPTS } from "../lib/transitions.ts"
import type { AnswerStream, ChangeSignal } from "./change-signal.ts"
import type { PairSessions } from "./pairs.ts"
export interface Asks {
  /** Stored once it returns the message's id. A repeated key returns the first message. */
  put(request: AskRequest): Promise<string>
  state(id: string): Promise<AskState>
  /** Its state once it is settled, or after this time. */
  wait(id: string, ms: number, onProgress?: (message: string) => void): Promise<AskState>
  /** Like `wait`, but also returns once there are more than `from` characters. */
  follow(
    id: string,
    request: { from: number; ms: number },
  ): Promise<AskState & { said: ReturnType<AnswerStream["since"]> }>
}

export interface AskRequest {
  fromTeam: string | null
  sender: string
  chain: string[]
  isOwners: boolean
  team: Team
  text: string
  /** The caller's name of the text's parameter, for errors. */
  parameter: string
  threadId: string
  ifOpen: IfOpen
  key: string | undefined
}

export interface AskState {
  messageId: string
  status: DeliveryState
  from: string | null
  /** As `askerOf` names it. */
  asker: string
  to: string
  threadId: string | null
  answer: string | null
  /** The platform's own id. */
  sessionId: string | null
  isContextNew: boolean
  durationMs: number
  /** Why it failed or waits. */
  reason: string | null
}

export interface AsksDeps {
  store: Store
  clock: Clock
  pairing: PairSessions
  changes: ChangeSignal
  stream: AnswerStream
  settings: { maxMessageBytes: number }
  host: string
  onQueued(): void
}

/** A question, or a notice, which has no pair. */
type AskedPayload = NoticePayload & Partial<Pick<AskPayload, "threadId" | "pairId" | "handed">>

const HANDED = because("handed").words
/** After this, no caller is still interested. */
const EXPIRES_MS = DAY_MS
const LOOK_MS = 2_000
const TELL_MS = 1_000

export function makeAsks({ store, clock, pairing, changes, stream, settings, host, onQueued }: AsksDeps): Asks {
  const found = async (id: string): Promise<Delivery> => {
    const delivery = await store.deliveries.byKey(id)
    if (delivery && [PAIR_CHANNEL, NOTICE_CHANNEL].includes(delivery.channel)) return delivery
    throw new Failure("message_not_found", `there is no message ${id}`, { id })
  }

  const state = async (id: string): Promise<AskState> => {
    const delivery = await found(id)
    const asked: AskedPayload = delivery.channel === NOTICE_CHANNEL ? noticeOf(delivery) : askOf(delivery)
    const { fromTeam, toTeam, threadId = MAIN_THREAD, pairId, handed } = asked
    const answer = delivery.state === "done" ? await store.pairs.answerTo(id) : undefined
    const pair = pairId === undefined ? undefined : await store.pairs.byId(pairId)
    const untilMs = isFinal(delivery.state) ? (delivery.settledAtMs ?? clock.nowMs()) : clock.nowMs()
    return {
      messageId: id,
      status: delivery.state,
      from: fromTeam,
      asker: askerOf({ ...asked, threadId }),
      to: toTeam,
      threadId: asked.threadId ?? null,
      answer: answer?.text ?? null,
      sessionId: answer?.nativeId ?? pair?.nativeId ?? null,
      isContextNew: answer?.isContextNew ?? false,
      durationMs: answer?.durationMs ?? Math.max(0, untilMs - delivery.createdAtMs),
      reason: delivery.state === "done" ? null : shownReason(delivery.outcome ?? (handed ? HANDED : null)),
    }
  }

  /** Looks at every change signal, and now and then: another daemon may have the question. */
  const until = async <T extends AskState>(
    id: string,
    ms: number,
    look: () => Promise<T>,
    isSo: (now: T) => boolean = () => false,
  ) => {
    const endMs = clock.nowMs() + ms
    const { wait, stop } = changes.listen(id)
    try {
      for (;;) {
        const now = await look()
        if (isFinal(now.status) || isSo(now) || changes.isEnding || clock.nowMs() >= endMs) return now
        await wait(Math.min(LOOK_MS, endMs - clock.nowMs()))
      }
    } finally {
      stop()
    }
  }

  const tell = async (id: string, onProgress: (message: string) => void) => {
    const { status, to, reason } = await state(id)
    const { at, doing } = stream.since(id, 0)
    const isWaiting = status === "queued"
    const what = isWaiting
      ? (reason ?? "it waits for its turn")
      : (doing ?? (at > 0 ? `${at} characters so far` : "at it"))
    onProgress(`${to}: ${status}, ${what}`)
  }

  return {
    async put({ fromTeam, sender, chain, isOwners, team, text, parameter, threadId, ifOpen, key }) {
      checkText(text, parameter, settings.maxMessageBytes)
      const id = newMessageId(team.name, key)
      const { id: pairId } = await pairing.ensure(fromTeam, team, threadId)
      const from = { sender, fromTeam, chain, isOwners }
      const payload: AskPayload = { pairId, text, ...from, toTeam: team.name, threadId, ifOpen }
      const nowMs = clock.nowMs()
      const delivery = {
        ...{ key: id, lane: pairLane(pairId), channel: PAIR_CHANNEL, payload, repeatable: false },
        // The team's folder is on this machine.
        host,
        maxAttempts: MAX_ATTEMPTS,
        expiresAtMs: nowMs + EXPIRES_MS,
      }
      await store.transaction((tx) => enqueue(tx, delivery, nowMs))
      onQueued()
      return id
    },
    state,
    async wait(id, ms, onProgress) {
      const stop = onProgress && every(TELL_MS, () => void tell(id, onProgress).catch(() => {}))
      try {
        return await until(id, ms, () => state(id))
      } finally {
        stop?.()
      }
    },
    async follow(id, { from, ms }) {
      const first = await found(id)
      const look = async () => ({ ...(await state(id)), said: stream.since(id, from) })
      return until(id, ms, look, ({ status, said }) => said.text !== "" || status !== first.state)
    },
  }
}
