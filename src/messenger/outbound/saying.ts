import type { Channel, ChannelPost, ChannelTrouble, Place } from "../../domain/channel.ts"
import { chatLane } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { ProgressMessage, Topic } from "../../domain/topic.ts"
import type { Clock } from "../../lib/clock.ts"
import { toShow } from "../to-show.ts"
import type { ChatBudget } from "./budget.ts"
import type { Coalesced, makeCoalescer } from "./coalesce.ts"
import type { FlatChats } from "./flat.ts"
import { notConfirmed, type Progress } from "./progress.ts"
import { progressBody, progressFile } from "./progress-message.ts"
import type { Job, OutboxQueue } from "./queue.ts"
import type { RenderedPart, Rendering } from "./rendering.ts"
import type { TopicLife } from "./topics.ts"
import type { Undeliverable } from "./undeliverable.ts"
import { HEAD_UNITS, labelOf, postOf } from "./words.ts"

/** The place of a job, and its rate limits. */
export interface JobPlace {
  place: Place
  topic: Topic | undefined
  /** The chat has no topics: messages name their session. */
  isFlat: boolean
  budget: ChatBudget
}

export interface SayingDeps {
  store: Store
  clock: Clock
  channel: Channel
  queue: OutboxQueue
  rendering: Rendering
  coalescer: ReturnType<typeof makeCoalescer>
  life: TopicLife
  flat: FlatChats
  undeliverable: Undeliverable
  onTrouble(error: unknown, what: string): void
}

/** Sends the next message of a job, and writes its effects together with its result. */
export function makeSaying(deps: SayingDeps) {
  const { store, clock, channel, queue, rendering, coalescer, life, flat, undeliverable, onTrouble } = deps
  const { can } = channel

  const send = async (
    job: Job,
    at: JobPlace,
    part: RenderedPart,
    about: Partial<Progress>,
    onSent: (messageId: number) => Promise<void>,
  ): Promise<ChannelTrouble | undefined> => {
    const { place, topic, budget } = at
    const { form, unconfirmed } = job.progress
    const label = topic && labelOf(topic.name)
    const quiet = { ...part, isSilent: part.isSilent || topic?.isMuted === true }
    const how = { form, isRepeat: unconfirmed > 0 }
    const post = postOf(quiet, can, { ...how, label: at.isFlat ? label : undefined })
    const isBegun = await queue.begin(job, { ...about, isUnderWay: true }, (tx) => budget.spend(tx, "send"))
    if (!isBegun) return NO_SIGNAL
    const told = await channel.send(place, { ...post, ...replyOf(job) })
    budget.arrived("send")
    if (!told.ok) return sendTrouble(job, topic, told.trouble)
    await onSent(told.value.messageId)
    if ((await flat.landed(place, told.value)) && label && !at.isFlat)
      await relabel(at, told.value.messageId, postOf(quiet, can, { ...how, label }))
    return undefined
  }

  /** The first message outside of its topic did not name its session. */
  const relabel = async ({ place, budget }: JobPlace, messageId: number, { body, buttons, file }: ChannelPost) => {
    if (file) return
    await store.transaction((tx) => budget.spend(tx, "edit"))
    const told = await channel.edit(place, messageId, { body, ...(buttons ? { buttons } : {}) })
    budget.arrived("edit")
    if (!told.ok) onTrouble(told.trouble, `message ${messageId} does not name its session`)
  }

  /** Returns the trouble that applies to the whole chat. */
  const sendTrouble = async (
    job: Job,
    topic: Topic | undefined,
    trouble: ChannelTrouble,
  ): Promise<ChannelTrouble | undefined> => {
    if (trouble.kind === "unclear") {
      await queue.note(job, notConfirmed(job.progress))
      return trouble
    }
    if (trouble.kind === "refused" || trouble.kind === "gone") {
      const { form } = job.progress
      onTrouble(
        new Error(trouble.why),
        `${job.delivery.key} was refused${form < 2 ? ", and is tried in another form" : ""}`,
      )
      if (form === 2) return (await undeliverable.giveUp(job, topic, trouble.why)) ?? NO_SIGNAL
      await queue.note(job, { isUnderWay: false, form: form === 0 ? 1 : 2 })
      return NO_SIGNAL
    }
    await queue.note(job, { isUnderWay: false })
    if (trouble.kind === "topic_closed" || trouble.kind === "topic_gone") return topicTrouble(job, topic, trouble)
    return trouble
  }

  const topicTrouble = async (
    job: Job,
    topic: Topic | undefined,
    trouble: Extract<ChannelTrouble, { kind: "topic_closed" | "topic_gone" }>,
  ): Promise<ChannelTrouble | undefined> => {
    if (!topic) return outsideOfTopics(job, trouble.why)
    if (topic.sharedThreadId !== null) return outsideOfThread(job, topic, trouble.why)
    if (trouble.kind === "topic_closed")
      await store.topics.change(topic.id, { state: "closed" }, ["open"], topic.chatId)
    else {
      const gone = job.progress.gone + 1
      await queue.note(job, { gone })
      if (gone > MOST_GONE) return { kind: "no_topics", why: trouble.why }
      await life.remake(topic)
    }
    return NO_SIGNAL
  }

  /** Only a person can open the thread again, or name another; messages do not wait for that. */
  const outsideOfThread = async (job: Job, { chatId, sharedThreadId }: Topic, why: string): Promise<ChannelTrouble> => {
    if (job.progress.isOutside) return { kind: "no_rights", why }
    const words = `⚠️ Thread ${sharedThreadId} of this chat cannot be written to (${why}). Messages for it come here until it is open again, or its team's chat.thread is another one.`
    const key = `${channel.id}:thread:${chatId}:${sharedThreadId}`
    const payload = { kind: "answer" as const, chatId, threadId: null, body: plain(words) }
    const row = toShow(key, chatLane(chatId), channel.id, payload)
    await queue.note(job, { isOutside: true }, (tx) => tx.deliveries.enqueue(row, clock.nowMs()))
    return NO_SIGNAL
  }

  /** An answer to a closed or deleted topic goes to the chat itself. */
  const outsideOfTopics = async (job: Job, why: string): Promise<ChannelTrouble> => {
    const { outgoing } = job
    if ("threadId" in outgoing && outgoing.threadId !== null) {
      job.outgoing = { ...outgoing, threadId: null }
      await queue.note(job, {})
    } else return (await undeliverable.giveUp(job, undefined, why)) ?? NO_SIGNAL
    return NO_SIGNAL
  }

  const partSent = async (job: Job, at: JobPlace, parts: number, messageId: number) => {
    const { outgoing, progress } = job
    const also = async (tx: Store) => {
      await at.budget.save(tx, "send")
      if (at.topic)
        await tx.topics.change(at.topic.id, {
          usedAtMs: clock.nowMs(),
          ...(endsProgress(job) && { progressMessage: null }),
        })
      // Of several messages the last one has the buttons.
      if (outgoing.kind === "approval")
        await tx.approvalRequests.put({
          permissionId: outgoing.permissionId,
          channel: channel.id,
          ...at.place,
          messageId,
        })
      if (outgoing.kind === "waiting") await tx.waitNotices.sent(outgoing.noticeId, messageId)
      await remember(tx, at, messageId)
    }
    const done = progress.done + 1
    if (done < parts) return queue.note(job, { done, isUnderWay: false, unconfirmed: 0, form: 0 }, also)
    return queue.settle(job, "done", null, also)
  }

  /** Lets a reply find the session where there is no topic. */
  const remember = async (tx: Store, { place, topic }: JobPlace, messageId: number) => {
    if (!topic) return
    const said = { channel: channel.id, chatId: place.chatId, messageId, topicId: topic.id, atMs: clock.nowMs() }
    await tx.topics.remember(said)
  }

  const beginProgress = async (job: Job, at: JobPlace, { lines, ...about }: Coalesced) => {
    const isRepeat = job.progress.unconfirmed > 0
    const shown = await progressBody(
      { seqs: lines },
      rendering.line,
      can.maxTextUnits - (at.isFlat ? HEAD_UNITS : MARK_UNITS),
    )
    const settle = async (progressMessage?: ProgressMessage) => {
      await queue.settle(job, "done", shown ? null : NOTHING_LEFT, async (tx) => {
        await at.budget.save(tx, "send")
        if (!progressMessage || !at.topic) return
        await tx.topics.change(at.topic.id, { progressMessage, usedAtMs: clock.nowMs() }, undefined, at.topic.chatId)
        await remember(tx, at, progressMessage.messageId)
      })
    }
    const progress = { as: about.as, with: about.with, isProgressFile: false }
    if (!shown || job.progress.done > 0) {
      job.progress = { ...job.progress, ...progress }
      await settle()
      return NO_SIGNAL
    }
    return send(job, at, { body: shown.body, isSilent: true }, progress, (messageId) =>
      settle({ messageId, seqs: lines, cut: shown.cut, ...(isRepeat ? { isRepeat } : {}) }),
    )
  }

  return {
    async say(job: Job, at: JobPlace, keep: number): Promise<ChannelTrouble | undefined> {
      const coalesced = await coalescer.coalesce(job, at.budget.left("send", keep))
      if (coalesced.as === "progress") return beginProgress(job, at, coalesced)
      const about = { as: coalesced.as, with: coalesced.with, isProgressFile: false }
      // A receipt's first part is the mark, which is set already.
      const parts = job.outgoing.kind === "receipt" ? [EMPTY, ...(coalesced.parts ?? [])] : coalesced.parts
      const { done } = job.progress
      const part = parts?.[done]
      if (!parts || !part) {
        job.progress = { ...job.progress, ...about }
        await queue.settle(job, "done", done > 0 ? null : NOTHING_LEFT)
        return NO_SIGNAL
      }
      if (part.body.text.trim() === "" && !part.file) {
        await queue.note(job, { ...about, done: done + 1 })
        return NO_SIGNAL
      }
      return send(job, at, part, about, (id) => partSent(job, at, parts.length, id))
    },
    /** Before another message: the lines that no longer fit into the progress message. */
    async endProgress(
      job: Job,
      at: JobPlace & { topic: Topic & { progressMessage: ProgressMessage } },
    ): Promise<ChannelTrouble | undefined> {
      const part = await progressFile(at.topic.progressMessage, rendering.line)
      const ended = () =>
        queue.note(job, { isUnderWay: false, isProgressFile: false, unconfirmed: 0, form: 0 }, async (tx) => {
          await at.budget.save(tx, "send")
          await tx.topics.change(at.topic.id, { progressMessage: null })
        })
      if (part) return send(job, at, part, { isProgressFile: true }, ended)
      await ended()
      return NO_SIGNAL
    },
    topicTrouble,
  }
}

/** Messages after which the next tools begin a new progress message. */
export const endsProgress = ({ outgoing }: Job) =>
  outgoing.kind === "turn" ||
  outgoing.kind === "line" ||
  outgoing.kind === "note" ||
  outgoing.kind === "progress_end" ||
  (outgoing.kind === "topic" && outgoing.change.isArchived === true)

/** Space for the mark of a possible repeat. */
const MARK_UNITS = 32

/** Says nothing about whether the chat can be written to. */
export const NO_SIGNAL: ChannelTrouble = { kind: "unchanged" }

/** After so many missing topics, creating another one would not help. */
const MOST_GONE = 2
const NOTHING_LEFT = "nothing is left to send"
const EMPTY: RenderedPart = { body: { text: "", marks: [] }, isSilent: true }

const replyOf = ({ outgoing, progress }: Job) => {
  if (outgoing.kind === "receipt") return { replyTo: outgoing.messageId }
  if (outgoing.kind === "waiting") return { replyTo: outgoing.replyTo }
  if (outgoing.kind === "answer" && outgoing.replyTo !== undefined && progress.done === 0)
    return { replyTo: outgoing.replyTo }
  return {}
}
