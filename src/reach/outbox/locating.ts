import type { Channel } from "../../domain/channel.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import type { Chats } from "./chats.ts"
import type { Job, OutboxDesk } from "./desk.ts"
import type { FlatChats } from "./flat.ts"
import type { JobPlace } from "./saying.ts"

export interface LocatingDeps {
  store: Store
  channel: Channel
  home: string
  desk: OutboxDesk
  chats: Chats
  flat: FlatChats
}

/** Where jobs are about: a topic as it is now, or a place in a chat. */
export function makeLocating({ store, channel, home, desk, chats, flat }: LocatingDeps) {
  const chatOfTopic = new WeakMap<Job, string>()

  const topicOf = async (topicId: string): Promise<Topic | undefined> => {
    const topic = await store.topics.byId(topicId)
    if (topic?.state !== "gone" || topic.sessionId === null) return topic
    // It was removed, and its session speaks again: in the one that it has now, or in a new one.
    const others = await store.topics.ofSession(topic.sessionId)
    const live = others.find((one) => one.state !== "gone" && one.chatId === topic.chatId && one.channel === channel.id)
    return live ?? topic
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
    /** Undefined where there is nothing left of it, and the job is settled. */
    async at(job: Job): Promise<JobPlace | undefined> {
      const { outgoing } = job
      if (!("topicId" in outgoing)) {
        const chatId = chats.now(outgoing.chatId)
        const place = { chatId, threadId: outgoing.threadId }
        return { place, topic: undefined, isFlat: false, budget: await chats.budget(chatId) }
      }
      const topic = await topicOf(outgoing.topicId)
      if (!topic || (topic.sessionId === null && outgoing.kind !== "topic")) {
        await desk.settle(job, "cancelled", "its session was forgotten")
        return undefined
      }
      chatOfTopic.set(job, topic.chatId)
      const place = { chatId: topic.chatId, threadId: topic.threadId }
      return { place, topic, isFlat: flat.is(topic.chatId), budget: await chats.budget(topic.chatId) }
    },
  }
}
