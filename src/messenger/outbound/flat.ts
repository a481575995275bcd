import type { Place, Sent } from "../../domain/channel.ts"
import { chatLane, type Outgoing } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { toShow } from "../to-show.ts"
import type { HoldList } from "./holds.ts"

export type FlatChats = ReturnType<typeof makeFlatChats>

/**
 * Chats without topics. There the messenger accepts a message for a topic and shows it in the chat, among those of all sessions.
 * So each result is checked, and from the first such message on each one names its session.
 */
export function makeFlatChats(deps: { store: Store; clock: Clock; channelId: string; holds: HoldList }) {
  const { store, clock, channelId, holds } = deps
  const is = (chatId: string) => holds.ofTopics(chatId)?.kind === "no_topics"

  const say = async (chatId: string) => {
    const { sinceMs, why } = holds.ofTopics(chatId)!
    const payload = { kind: "answer" as const, chatId, threadId: null, body: plain(`⚠️ ${NOTICE}`), why }
    await store.deliveries.enqueue(
      toShow(`${channelId}:flat:${chatId}:${sinceMs}`, chatLane(chatId), channelId, payload),
      clock.nowMs(),
    )
  }

  return {
    is,
    /** Whether this goes to the chat itself, until the next attempt to create a topic. */
    isInstead(chatId: string, kind: Outgoing["kind"]): boolean {
      const hold = holds.ofTopics(chatId)
      if (!hold || hold.nextAtMs <= clock.nowMs()) return false
      // An approval request does not wait for the right to create topics.
      return hold.kind === "no_topics" || kind === "approval"
    },
    /** A message was accepted. True when it is outside of the topic that it was for. */
    async landed({ chatId, threadId }: Place, sent: Sent): Promise<boolean> {
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
