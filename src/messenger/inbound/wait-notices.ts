import type { Delivery } from "../../domain/delivery.ts"
import type { SessionId } from "../../domain/ids.ts"
import type { JournalEntry } from "../../domain/journal.ts"
import { addressOf, messageOf } from "../../domain/message.ts"
import { waitingLane } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import { type WaitNotice, waitWordsOf } from "../../domain/wait-notice.ts"
import type { Clock } from "../../lib/clock.ts"
import { messagesOfNotice, waitingMessages } from "../notice-messages.ts"
import { toShow } from "../to-show.ts"

/** A later message gets its own notice: an edit so far above would not be seen. */
const RENEW_MS = 10 * 60_000

/**
 * Explains in the messenger why messages wait, and what became of them. The notice, sending it and editing it are rows;
 * its text is composed when it is sent or edited.
 */
export function makeWaitNotices({ channel, clock }: { channel: string; clock: Clock }) {
  const edit = async (store: Store, { id, topicId }: WaitNotice, seq: number) => {
    const payload = { kind: "waited" as const, topicId, noticeId: id }
    await store.deliveries.enqueue(
      toShow(`${channel}:waited:${id}:${seq}`, waitingLane(id), channel, payload),
      clock.nowMs(),
    )
  }

  const change = async (store: Store, notice: WaitNotice, change: Partial<WaitNotice>, seq: number) => {
    const next = { ...notice, ...change }
    await store.waitNotices.put(next)
    await edit(store, next, seq)
  }

  const begin = async (store: Store, sessionId: SessionId, waiting: readonly Delivery[], outcome: string | null) => {
    const said = waitWordsOf(outcome)
    const [first] = waiting
    if (!first || said?.afterMs == null) return
    const topics = await store.topics.ofSession(sessionId)
    const topic = topics.find((one) => one.channel === channel && one.state !== "gone")
    if (!topic) return
    const id = first.key
    const seqs = { firstSeq: first.seq, lastSeq: waiting.at(-1)!.seq }
    const nowMs = clock.nowMs()
    const about = { id, channel, sessionId, topicId: topic.id, ...seqs }
    await store.waitNotices.put({ ...about, ...said, sinceMs: nowMs, endedAtMs: null })
    const replyTo = messageOf(first).origin!.messageId
    const payload = { kind: "waiting" as const, topicId: topic.id, noticeId: id, replyTo }
    await store.deliveries.enqueue(toShow(`${channel}:waiting:${id}`, waitingLane(id), channel, payload), nowMs)
  }

  /** The reason of the lane's head applies to those behind it. */
  const onWaiting = async (store: Store, head: Delivery, sessionId: SessionId, seq: number) => {
    const open = await store.waitNotices.open(channel, sessionId)
    const said = waitWordsOf(head.outcome)
    for (const notice of said ? open : []) if (said!.words !== notice.words) await change(store, notice, said!, seq)
    const lastSeq = open.at(-1)?.lastSeq ?? 0
    const waiting = (await waitingMessages(store, { channel, sessionId })).filter((one) => one.seq > lastSeq)
    const newest = open.at(-1)
    const isFresh = newest && clock.nowMs() - newest.sinceMs < RENEW_MS
    if (isFresh && waiting.length > 0) await change(store, newest, { lastSeq: waiting.at(-1)!.seq }, seq)
    else await begin(store, sessionId, waiting, head.outcome)
  }

  /** A message no longer waits. */
  const onSettled = async (store: Store, delivery: Delivery, sessionId: SessionId, seq: number) => {
    const open = await store.waitNotices.open(channel, sessionId)
    const notice = open.find(({ firstSeq, lastSeq }) => firstSeq <= delivery.seq && delivery.seq <= lastSeq)
    if (!notice) return undefined
    const isOver = (await messagesOfNotice(store, notice)).every(({ state }) => state !== "queued")
    await change(store, notice, isOver ? { endedAtMs: clock.nowMs() } : {}, seq)
    return notice
  }

  return {
    /** Returns the notice that shows the message's result, if it was sent already. */
    async hear({ kind, seq }: JournalEntry, delivery: Delivery, store: Store): Promise<WaitNotice | undefined> {
      const { sessionId } = addressOf(delivery)
      if (sessionId === undefined) return undefined
      if (kind !== "message.waiting" && kind !== "message.queued") {
        const notice = await onSettled(store, delivery, sessionId, seq)
        return notice?.messageId == null ? undefined : notice
      }
      if (delivery.state !== "queued") return undefined
      const [head] = await store.deliveries.heads([delivery.lane])
      if (head) await onWaiting(store, head, sessionId, seq)
      return undefined
    },
  }
}
