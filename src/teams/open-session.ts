import type { Delivery } from "../domain/delivery.ts"
import { headingOf } from "../domain/framing.ts"
import type { SessionId } from "../domain/ids.ts"
import type { Priority, Sender } from "../domain/message.ts"
import { type AskPayload, askOf, type Pair } from "../domain/pair.ts"
import { because, type Reason } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Turn } from "../domain/turn.ts"
import { type Clock, pause } from "../lib/clock.ts"
import { conclude, isFinal, isWithAgent, move } from "../lib/transitions.ts"
import { answerUsage } from "./turn.ts"

/** Delivers questions to a session that a person has open, as a message there; the reply in that session is the answer. */
export interface OpenSessionDelivery {
  /**
   * Resolves once the question is settled, or with `closed` if the session closed before delivery. A cancelled one is cancelled there
   * too, or withdrawn if already delivered; the canceller settles it.
   */
  deliver(
    delivery: Delivery,
    pair: Pair,
    isCancelled: () => boolean,
    signal: AbortSignal,
  ): Promise<"settled" | "closed">
}

export interface OpenSessionDeps {
  store: Store
  clock: Clock
  /** Sends to exactly this session and returns the message's id. The same key is the same message. */
  sendTo(sessionId: SessionId, request: SendToRequest): Promise<string>
  /** False if an agent already has it. */
  takeBack(messageId: string): Promise<boolean>
  readRecords(platform: string): Promise<boolean>
  isOpenElsewhere(platform: string, nativeId: string): Promise<boolean>
  /** Its agent is waiting for the next prompt. */
  isIdle(sessionId: SessionId): Promise<boolean>
  onChanged(id: string): void
}

export interface SendToRequest {
  text: string
  sender: Sender
  key: string
  priority?: Priority
}

const LOOK_MS = 150
const LOOKS_CLOSED = 3
/** Interval of looking for an answer in the records: the hook at the end of a turn may be late. */
const EVIDENCE_MS = 2_000
/** The reply reaches the agent's file, and our store, shortly after the end of the turn. */
const GRACE_MS = 5_000
const LAST_TURNS = 2_000

const IN_SESSION = because("in_open_session")

export const isInOpenSession = ({ handed }: AskPayload) => handed !== undefined && handed.sessionId !== null

export function makeOpenSessionDelivery(deps: OpenSessionDeps): OpenSessionDelivery {
  const { store, clock, sendTo, takeBack, readRecords, isOpenElsewhere, isIdle, onChanged } = deps

  const settle = async (delivery: Delivery, state: Parameters<typeof conclude>[2], reason: Reason | null) => {
    await store.transaction((tx) => conclude(tx, delivery, state, clock.nowMs(), reason))
    onChanged(delivery.key)
  }

  /** Rewrites the current payload: text that was forgotten meanwhile must not return. */
  const note = (delivery: Delivery, handed: NonNullable<AskPayload["handed"]>): Promise<boolean> =>
    store.transaction(async (tx) => {
      const now = await tx.deliveries.byKey(delivery.key)
      if (!now || isFinal(now.state)) return false
      delivery.payload = { ...now.payload, handed }
      await tx.deliveries.rewrite(delivery.seq, delivery.payload)
      return true
    })

  /** Recorded before it is sent, so that recovery after a crash sends the same message. A settled question is not sent. */
  const send = async (delivery: Delivery, sessionId: SessionId): Promise<string | undefined> => {
    const before = askOf(delivery)
    const times = (before.handed?.times ?? 0) + (isInOpenSession(before) ? 0 : 1)
    if (!(await note(delivery, { times, sessionId }))) return undefined
    const ask = askOf(delivery)
    // The owner's text is typed verbatim; other senders' messages get their heading from the queue.
    const text = ask.isOwners ? `${headingOf(delivery)}\n${ask.text}` : ask.text
    return sendTo(sessionId, { text, sender: senderOf(ask), key: `${delivery.key} ${times}` })
  }

  /** Only the person may end the turn, but its agent can stop working on this. Urgent: after the turn it is too late. */
  const withdraw = (delivery: Delivery, sessionId: SessionId, messageId: string): Promise<string> => {
    const ask = askOf(delivery)
    const named = ask.isOwners ? delivery.key : messageId
    const text = `The question ${named} is withdrawn: nobody is waiting for an answer any longer. If you are working on it, stop.`
    return sendTo(sessionId, { text, sender: senderOf(ask), key: `${delivery.key} withdrawn`, priority: "urgent" })
  }

  /** Moves the question to the state of its message, also if that finished between two looks. */
  const follow = async (delivery: Delivery, message: Delivery): Promise<void> => {
    const isDone = message.state === "done"
    if (!isDone && !isWithAgent(message.state)) return
    const { seq, leaseOwner, key } = delivery
    await store.transaction(async (tx) => {
      const nowMs = clock.nowMs()
      const now = await tx.deliveries.byKey(key)
      if (now?.state === "queued" && leaseOwner !== null) {
        await tx.deliveries.startAttempt(seq, leaseOwner, nowMs)
        await tx.pairs.count(askOf(delivery).pairId, nowMs)
        await conclude(tx, delivery, "delivered", nowMs, IN_SESSION)
      }
      const isRunning = isDone || message.state === "running"
      if (isRunning) await move(tx, delivery, ["delivered"], "running", nowMs, null, IN_SESSION.words)
    })
    onChanged(key)
  }

  const replyTo = async (
    message: Delivery,
    ask: Delivery,
    sessionId: SessionId,
    { isProved = false } = {},
  ): Promise<Turn | undefined> => {
    const turns = await store.turns.ofSession(sessionId, { limit: LAST_TURNS })
    const names = [message.key, ask.key]
    const at = turns.findLastIndex(({ kind, text }) => kind !== "reply" && names.some((name) => text.includes(name)))
    if (isProved && at < 0) return undefined
    // A message delivered by a hook is in no turn: then any reply since its delivery is the answer.
    const since = message.attemptStartedAtMs ?? message.createdAtMs
    const after = at >= 0 ? turns.slice(at + 1) : turns.filter(({ atMs }) => atMs >= since)
    const next = after.findIndex(({ kind }) => kind === "prompt")
    return (next < 0 || at < 0 ? after : after.slice(0, next)).findLast(({ kind }) => kind === "reply")
  }

  const answered = (delivery: Delivery, pair: Pair, message: Delivery, { text, usage }: Turn) =>
    store.transaction(async (tx) => {
      const nowMs = clock.nowMs()
      if (!(await conclude(tx, delivery, "done", nowMs, IN_SESSION))) return
      await tx.pairs.answer({
        ...{ messageId: delivery.key, pairId: pair.id, nativeId: pair.nativeId, text, isContextNew: false },
        durationMs: Math.max(0, nowMs - (message.attemptStartedAtMs ?? nowMs)),
        ...answerUsage(usage),
        atMs: nowMs,
      })
    })

  const conclusion = async (
    delivery: Delivery,
    pair: Pair,
    message: Delivery,
    sessionId: SessionId,
    signal: AbortSignal,
  ) => {
    if (message.state !== "done")
      return settle(
        delivery,
        message.state as "failed",
        message.outcome === null ? because("taken_out") : because("agent_said", message.outcome),
      )
    for (let leftMs = GRACE_MS; leftMs > 0; leftMs -= LOOK_MS) {
      const isRead = await readRecords(pair.platform)
      const reply = await replyTo(message, delivery, sessionId)
      if (reply) {
        await answered(delivery, pair, message, reply)
        onChanged(delivery.key)
        return
      }
      if (!isRead) break
      await pause(LOOK_MS, signal)
      if (signal.aborted) return
    }
    await settle(delivery, "failed", because("no_reply"))
  }

  /** The reply after the question in the records of an idle agent. */
  const foundReply = async (delivery: Delivery, pair: Pair, message: Delivery, sessionId: SessionId) => {
    if (message.state === "queued" || !(await isIdle(sessionId))) return undefined
    await readRecords(pair.platform)
    return replyTo(message, delivery, sessionId, { isProved: true })
  }

  return {
    async deliver(delivery, pair, isCancelled, signal) {
      const session = await store.sessions.byNative(pair.platform, pair.nativeId!)
      const sessionId = askOf(delivery).handed?.sessionId ?? session?.id
      if (sessionId === undefined) return "closed"
      const id = await send(delivery, sessionId)
      if (id === undefined) return "settled"
      let looksClosed = 0
      let lookedAtMs = clock.nowMs()
      for (; !signal.aborted; await pause(LOOK_MS, signal)) {
        const message = await store.deliveries.byKey(id)
        if (!message) return "closed"
        if (isFinal(message.state)) {
          await follow(delivery, message)
          await conclusion(delivery, pair, message, sessionId, signal)
          return "settled"
        }
        const isOpen = message.state !== "queued" || (await isOpenElsewhere(pair.platform, pair.nativeId!))
        // A registry that is being written is empty for a moment.
        looksClosed = isOpen ? 0 : looksClosed + 1
        const isTakenBack = (isCancelled() || looksClosed >= LOOKS_CLOSED) && (await takeBack(id))
        if (isCancelled()) {
          if (!isTakenBack) await withdraw(delivery, sessionId, id)
          return "settled"
        }
        if (isTakenBack) {
          await note(delivery, { sessionId: null, times: askOf(delivery).handed?.times ?? 1 })
          return "closed"
        }
        await follow(delivery, message)
        if (clock.nowMs() - lookedAtMs < EVIDENCE_MS) continue
        lookedAtMs = clock.nowMs()
        const reply = await foundReply(delivery, pair, message, sessionId)
        if (!reply) continue
        await answered(delivery, pair, message, reply)
        onChanged(delivery.key)
        return "settled"
      }
      return "settled"
    },
  }
}

function senderOf({ isOwners, fromTeam, sender: name }: AskPayload): Sender {
  if (isOwners) return { kind: "owner", name }
  return { kind: fromTeam === null ? "client" : "agent", name }
}
