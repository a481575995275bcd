import type { Place, Sent } from "../../domain/channel.ts"
import { chatLane, type Outgoing } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { HoldList } from "./holds.ts"

/**
 * Chats that have no topics, or have them no longer. The messenger does not refuse a message for a topic there: it puts it into the
 * chat, among those of all other sessions. So each answer is looked at, and from the first such one on every message says whose it is.
 */
export interface FlatChats {
  is(chatId: string): boolean
  /** Whether something goes there without a topic, until the next look whether one can be made. */
  isInstead(chatId: string, kind: Outgoing["kind"]): boolean
  /** A message was taken. True when it landed outside of the topic that it was for. */
  landed(asked: Place, sent: Sent): Promise<boolean>
}

export interface FlatDeps {
  store: Store
  clock: Clock
  channelId: string
  holds: HoldList
}

export function makeFlatChats({ store, clock, channelId, holds }: FlatDeps): FlatChats {
  const is = (chatId: string) => holds.ofTopics(chatId)?.kind === "no_topics"

  const say = async (chatId: string) => {
    const { sinceMs, why } = holds.ofTopics(chatId)!
    const payload: Outgoing = { kind: "answer", chatId, threadId: null, body: plain(`⚠️ ${NOTICE}`) }
    const key = `${channelId}:flat:${chatId}:${sinceMs}`
    const row = { key, lane: chatLane(chatId), channel: channelId, payload: { ...payload, why }, repeatable: false }
    await store.deliveries.enqueue(row, clock.nowMs())
  }

  return {
    is,
    isInstead(chatId, kind) {
      const hold = holds.ofTopics(chatId)
      if (!hold || hold.nextAtMs <= clock.nowMs()) return false
      // What waits for a person does not wait for the right to make topics either.
      return hold.kind === "no_topics" || kind === "approval"
    },
    async landed({ chatId, threadId }, sent) {
      if (threadId === null) return false
      if (sent.threadId !== null) {
        if (is(chatId)) await holds.endBy("topic", chatId)
        return false
      }
      const known = is(chatId) ? holds.ofTopics(chatId) : undefined
      if (!known || known.nextAtMs <= clock.nowMs()) await holds.hold("topics", chatId, { kind: "no_topics", why: WHY })
      if (!known) await say(chatId)
      return true
    },
  }
}

const WHY = "topics are switched off in the chat: messages go to it without topics"
const NOTICE =
  "Topics are switched off in this chat. Messages of all sessions now come here, and each one names its session. To write to a session, reply to one of its messages. To have a topic for each again: group → Edit → Topics."
