import type { Channel, Told, TopicPlace } from "../../domain/channel.ts"
import { newTimedId } from "../../domain/ids.ts"
import type { Outgoing } from "../../domain/outgoing.ts"
import { cutText } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import type { Clock } from "../../lib/clock.ts"
import type { ChatBudget } from "./budget.ts"

type TopicRequest = Extract<Outgoing, { kind: "topic" }>["change"]

/** It can be written to: it is created and open, or shares a thread that exists. */
export const isReady = (topic: Topic): boolean =>
  topic.state === "open" && (topic.threadId !== null || topic.sharedThreadId !== null)

export interface TopicLifeDeps {
  store: Store
  clock: Clock
  channel: Channel
  isGroup(chatId: string): boolean
}

export type TopicLife = ReturnType<typeof makeTopicLife>

/** Creates, closes, reopens and removes topics. Private chats cannot close them: there a topic is only renamed when its session ends. */
export function makeTopicLife({ store, clock, channel, isGroup }: TopicLifeDeps) {
  const named = (name: string) => cutText(name.trim() || "session", channel.can.maxTopicNameUnits)
  const archived = (name: string) => named(`✓ ${name}`)
  const placeOf = ({ chatId, threadId }: Topic): TopicPlace => ({ chatId, threadId: threadId! })

  /** Idempotent: unchanged counts as done. */
  const call = async (budget: ChatBudget, act: () => Promise<Told<void>>): Promise<Told<void>> => {
    await store.transaction((tx) => budget.spend(tx, "topic"))
    const told = await act()
    budget.arrived("topic")
    return !told.ok && told.trouble.kind === "unchanged" ? { ok: true, value: undefined } : told
  }

  const make = async (topic: Topic, budget: ChatBudget): Promise<Told<unknown>> => {
    // Written first: after a crash in between, a topic with an unknown number may exist.
    const unconfirmed = topic.unconfirmed + (topic.makingAtMs === null ? 0 : 1)
    await store.transaction(async (tx) => {
      await tx.topics.change(topic.id, { makingAtMs: clock.nowMs(), unconfirmed })
      await budget.spend(tx, "topic")
    })
    const told = await channel.makeTopic(topic.chatId, named(topic.name))
    budget.arrived("topic")
    if (told.ok) {
      await made(topic, told.value.threadId)
    } else if (told.trouble.kind !== "unclear") await store.topics.change(topic.id, { makingAtMs: null })
    return told
  }

  /** The session may have moved to another chat meanwhile, where this number is another topic's. */
  const made = async (topic: Topic, threadId: number) =>
    store.transaction(async (tx) => {
      const found = { threadId, makingAtMs: null, progressMessage: null }
      const chatNow = await tx.topics.chatNow(topic.channel, topic.chatId)
      for (const chatId of new Set([topic.chatId, chatNow]))
        if (await tx.topics.change(topic.id, { ...found, state: "open" }, ["wanted"], chatId)) return
      const left = { ...topic, ...found, id: newTimedId(clock.nowMs()), state: "left", unconfirmed: 0 } as const
      await tx.topics.add(left)
    })

  const reopen = async (topic: Topic, budget: ChatBudget): Promise<Told<unknown>> => {
    if (topic.state === "archived") {
      const told = await call(budget, () => channel.changeTopic(placeOf(topic), { name: named(topic.name) }))
      if (!told.ok) return told
    }
    const told = await close(topic, false, budget)
    if (told.ok) await store.topics.change(topic.id, { state: "open" }, ["closed", "archived"], topic.chatId)
    return told
  }

  const close = async (topic: Topic, isClosed: boolean, budget: ChatBudget): Promise<Told<void>> =>
    isGroup(topic.chatId)
      ? call(budget, () => channel.changeTopic(placeOf(topic), { isClosed }))
      : { ok: true, value: undefined }

  return {
    /** Creates the topic, or opens it again. */
    prepare: (topic: Topic, budget: ChatBudget): Promise<Told<unknown>> =>
      topic.threadId === null ? make(topic, budget) : reopen(topic, budget),
    /** Renames it, closes and renames it because its session ended, or removes it with its messages. */
    async change(topic: Topic, change: TopicRequest, budget: ChatBudget): Promise<Told<void>> {
      const { name, isArchived, isRemoved } = change
      if (name !== undefined) await store.topics.change(topic.id, { name })
      if (topic.threadId === null || topic.state === "gone") return { ok: true, value: undefined }
      const place = placeOf(topic)
      if (isRemoved) {
        const told = await call(budget, () => channel.removeTopic(place))
        if (told.ok)
          await store.topics.change(topic.id, { state: "gone", progressMessage: null }, undefined, topic.chatId)
        return told
      }
      const isArchive = isArchived ?? topic.state === "archived"
      if (name !== undefined || isArchived !== undefined) {
        const full = name ?? topic.name
        const told = await call(budget, () =>
          channel.changeTopic(place, { name: isArchive ? archived(full) : named(full) }),
        )
        if (!told.ok) return told
      }
      if (isArchived === undefined) return { ok: true, value: undefined }
      const told = await close(topic, isArchived, budget)
      const state = isArchived ? "archived" : "open"
      if (told.ok) await store.topics.change(topic.id, { state }, undefined, topic.chatId)
      return told
    },
    /** It was deleted in the chat: the row waits for another topic, and a second row remembers the number. */
    async remake(topic: Topic): Promise<void> {
      const none = { progressMessage: null, makingAtMs: null }
      if (topic.sessionId === null) return void (await store.topics.change(topic.id, { ...none, state: "gone" }))
      await store.transaction(async (tx) => {
        // The row keeps its id, and so its lane with the pending messages.
        if (!(await tx.topics.change(topic.id, { ...none, threadId: null, state: "wanted" }, undefined, topic.chatId)))
          return
        const id = newTimedId(clock.nowMs())
        const gone = {
          ...topic,
          ...none,
          id,
          state: "gone",
          unconfirmed: 0,
          createdAtMs: topic.createdAtMs - 1,
        } as const
        if (topic.threadId !== null) await tx.topics.add(gone)
      })
    },
  }
}
