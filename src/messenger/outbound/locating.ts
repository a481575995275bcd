import type { Channel } from "../../domain/channel.ts"
import type { Store } from "../../domain/store.ts"
import { isCurrent, type Topic } from "../../domain/topic.ts"
import type { Chats } from "./chats.ts"
import type { FlatChats } from "./flat.ts"
import type { Job, OutboxQueue } from "./queue.ts"
import type { JobPlace } from "./saying.ts"

export interface LocatingDeps {
  store: Store
  channel: Channel
  home: string
  queue: OutboxQueue
  chats: Chats
  flat: FlatChats
}

/** The places of jobs: a topic as it is now, or a place in a chat. */
export function makeLocating({ store, channel, home, queue, chats, flat }: LocatingDeps) {
  const chatOfTopic = new WeakMap<Job, string>()

  const topicOf = async (topicId: string): Promise<Topic | undefined> => {
    const topic = await store.topics.byId(topicId)
    if (topic === undefined || isCurrent(topic) || topic.sessionId === null) return topic
    // Removed, or its session has moved: use the session's current topic, or a new one.
    const others = (await store.topics.ofSession(topic.sessionId)).filter(
      (one) => isCurrent(one) && one.channel === channel.id,
    )
    return others.find(({ chatId }) => chatId === topic.chatId) ?? others.find(({ home: of }) => of === home) ?? topic
  }

  return {
    async whose(job: Job): Promise<"ours" | "another's" | "nobody's"> {
      if (!("topicId" in job.outgoing)) return "ours"
      const topic = await topicOf(job.outgoing.topicId)
      if (!topic) return "nobody's"
      chatOfTopic.set(job, topic.chatId)
      return topic.home === home ? "ours" : "another's"
    },
    chatOf: (job: Job): string =>
      "topicId" in job.outgoing ? (chatOfTopic.get(job) ?? "") : chats.now(job.outgoing.chatId),
    /** Undefined where nothing is left to send, and the job is settled. */
    async at(job: Job): Promise<JobPlace | undefined> {
      const { outgoing } = job
      if (!("topicId" in outgoing)) {
        const chatId = chats.now(outgoing.chatId)
        const place = { chatId, threadId: outgoing.threadId }
        return { place, topic: undefined, isFlat: false, budget: await chats.budget(chatId) }
      }
      const topic = await topicOf(outgoing.topicId)
      if (!topic || (topic.sessionId === null && outgoing.kind !== "topic")) {
        await queue.settle(job, "cancelled", "its session was forgotten")
        return undefined
      }
      chatOfTopic.set(job, topic.chatId)
      const isShared = topic.sharedThreadId !== null
      const threadId = isShared && !job.progress.isOutside ? topic.sharedThreadId : topic.threadId
      const place = { chatId: topic.chatId, threadId }
      return { place, topic, isFlat: isShared || flat.is(topic.chatId), budget: await chats.budget(topic.chatId) }
    },
  }
}
