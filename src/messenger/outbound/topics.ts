import type { Channel, Told, TopicPlace } from "../../domain/channel.ts"
import { newTimedId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import type { Clock } from "../../lib/clock.ts"
import type { ChatBudget } from "./budget.ts"
import { cutText } from "./words.ts"

/**
 * How topics come to be, are closed and opened again, and are followed when they were deleted. In a private chat nothing can be
 * closed: there a topic is only renamed when its session ends.
 */
export interface TopicLife {
  /** Makes one that is wanted, or opens one that is closed. */
  prepare(topic: Topic, budget: ChatBudget): Promise<Told<unknown>>
  /** It takes a name, is closed and renamed because its session ended, or is removed with all that was said in it. */
  change(
    topic: Topic,
    change: { name?: string; isArchived?: boolean; isRemoved?: boolean },
    budget: ChatBudget,
  ): Promise<Told<unknown>>
  /** It was deleted there: the ledger remembers its number, and what was to be said in it waits for another one. */
  remake(topic: Topic): Promise<void>
}

/** Something can be said in it: it is made and open, or in a thread that is there anyway. */
export const isReady = (topic: Topic): boolean =>
  topic.state === "open" && (topic.threadId !== null || topic.sharedThreadId !== null)

export interface TopicLifeDeps {
  store: Store
  clock: Clock
  channel: Channel
  isGroup(chatId: string): boolean
}

export function makeTopicLife({ store, clock, channel, isGroup }: TopicLifeDeps): TopicLife {
  const named = (name: string) => cutText(name.trim() || "session", channel.can.maxTopicNameUnits)
  const archived = (name: string) => named(`✓ ${name}`)
  const placeOf = ({ chatId, threadId }: Topic): TopicPlace => ({ chatId, threadId: threadId! })

  /** Harmless twice: what is so already is as good as done. */
  const call = async (budget: ChatBudget, act: () => Promise<Told<void>>): Promise<Told<void>> => {
    await store.transaction((tx) => budget.spend(tx, "topic"))
    const told = await act()
    budget.arrived("topic")
    return !told.ok && told.trouble.kind === "unchanged" ? { ok: true, value: undefined } : told
  }

  const make = async (topic: Topic, budget: ChatBudget): Promise<Told<unknown>> => {
    // Written before: a crash in between leaves one that nobody knows the number of, and this says that there may be one.
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

  /** Its session may have moved to another chat meanwhile: there the number would be another topic's. */
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
    prepare: (topic, budget) => (topic.threadId === null ? make(topic, budget) : reopen(topic, budget)),
    async change(topic, { name, isArchived, isRemoved }, budget) {
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
    async remake(topic) {
      const none = { progressMessage: null, makingAtMs: null }
      if (topic.sessionId === null) return void (await store.topics.change(topic.id, { ...none, state: "gone" }))
      await store.transaction(async (tx) => {
        // The row keeps its id, and with it the lane in which everything waits in order.
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
