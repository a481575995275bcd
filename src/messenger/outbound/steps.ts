import type { ChannelTrouble, Place, ReceiptMark } from "../../domain/channel.ts"
import type { DeliveryState } from "../../domain/delivery.ts"
import type { RichText } from "../../domain/rich-text.ts"
import type { ProgressMessage } from "../../domain/topic.ts"
import { waitDueAtMs } from "../notice-messages.ts"
import type { CallKind } from "./budget.ts"
import { progressBody } from "./progress-message.ts"
import type { Job } from "./queue.ts"
import type { RenderedPart } from "./rendering.ts"
import { endsProgress, type JobPlace, makeSaying, NO_SIGNAL, type SayingDeps } from "./saying.ts"
import { isReady } from "./topics.ts"
import { HEAD_UNITS, joined, labelOf } from "./words.ts"

/** The next call of a job. */
export interface Step {
  call: CallKind
  /** How many calls to leave for more urgent jobs. */
  keep: number
  notBeforeMs: number
  /** Returns trouble that applies to the whole chat or bot; undefined when the call has worked. */
  run(): Promise<ChannelTrouble | undefined>
}

export interface StepDeps extends SayingDeps {
  settings: OutboxSettings
  /** The number of topics of the chat in which tools run. */
  activeTopics(chatId: string): number
}

export interface OutboxSettings {
  /** Sends per minute that are reserved for approval requests. */
  keptForApprovals: number
  /** The shortest time between two edits of a progress message. */
  progressEditMs: number
}

export function makeSteps(deps: StepDeps) {
  const { store, clock, channel, queue, rendering, coalescer, life, flat, settings, onTrouble } = deps
  const saying = makeSaying(deps)
  const editedAtMs = new Map<string, number>()

  /** Edits are limited: the more topics are active, the longer each waits. */
  const paceMs = (chatId: string) =>
    Math.max(settings.progressEditMs, (deps.activeTopics(chatId) * 60_000) / channel.can.editsPerMinute)

  const growProgress = async (
    job: Job,
    at: JobPlace,
    progressMessage: ProgressMessage,
  ): Promise<ChannelTrouble | undefined> => {
    const { others, seqs: added } = await coalescer.lines(job)
    const seqs = [...progressMessage.seqs, ...added]
    const most = channel.can.maxTextUnits - (at.isFlat ? HEAD_UNITS : 0)
    const shown = await progressBody({ ...progressMessage, seqs }, rendering.line, most)
    const grown = (tx: typeof store) =>
      tx.topics.change(
        at.topic!.id,
        {
          progressMessage: { ...progressMessage, seqs, cut: shown?.cut ?? progressMessage.cut },
          usedAtMs: clock.nowMs(),
        },
        undefined,
        at.topic!.chatId,
      )
    job.progress = { ...job.progress, with: others }
    if (!shown) {
      await queue.settle(job, "done", "nothing is left to send", grown)
      return NO_SIGNAL
    }
    if (!(await queue.begin(job, {}, (tx) => at.budget.spend(tx, "edit")))) return NO_SIGNAL
    const body = labelled(at, shown.body)
    const told = await channel.edit(at.place, progressMessage.messageId, { body })
    at.budget.arrived("edit")
    editedAtMs.set(at.topic!.id, clock.nowMs())
    if (told.ok || told.trouble.kind === "unchanged") {
      await queue.settle(job, "done", null, grown)
      return undefined
    }
    const { trouble } = told
    if (trouble.kind === "topic_closed" || trouble.kind === "topic_gone")
      return saying.topicTrouble(job, at.topic, trouble)
    if (!isOver(trouble)) return trouble
    // It was deleted: the lines go into a new one.
    await store.topics.change(at.topic!.id, { progressMessage: null })
    return NO_SIGNAL
  }

  const edit = async (job: Job, at: JobPlace, message: Place & { messageId: number }, part: RenderedPart) => {
    if (!(await queue.begin(job, {}, (tx) => at.budget.spend(tx, "edit")))) return NO_SIGNAL
    const { body, buttons } = part
    const told = await channel.edit(message, message.messageId, { body, ...(buttons ? { buttons } : {}) })
    at.budget.arrived("edit")
    return finish(job, told.ok ? undefined : told.trouble)
  }

  const decide = async (job: Job, at: JobPlace, permissionId: string): Promise<ChannelTrouble | undefined> => {
    const approval = await store.approvalRequests.get(permissionId, channel.id, at.place.chatId)
    const [part] = (approval && (await rendering.parts(job.outgoing))) ?? []
    if (!approval || !part) {
      await queue.settle(job, "done", approval ? "nothing is left to send" : "it was never shown")
      return NO_SIGNAL
    }
    return edit(job, at, approval, part)
  }

  const waited = async (job: Job, at: JobPlace, noticeId: string): Promise<ChannelTrouble | undefined> => {
    const { messageId } = (await store.waitNotices.byId(noticeId)) ?? {}
    const [part] = (messageId != null && (await rendering.parts(job.outgoing))) || []
    if (messageId == null || !part) return finish(job, { kind: "unchanged" })
    return edit(job, at, { ...at.place, messageId }, { ...part, body: labelled(at, part.body) })
  }

  const receipt = async (job: Job, at: JobPlace, messageId: number, state: DeliveryState) => {
    const mark = markOf(state)
    if (!(await queue.begin(job, {}, (tx) => at.budget.spend(tx, "react")))) return NO_SIGNAL
    const told = await channel.react(at.place, messageId, mark)
    at.budget.arrived("react")
    const trouble = told.ok ? undefined : told.trouble
    if (mark !== "failed" || (trouble && !isOver(trouble))) return finish(job, trouble)
    await queue.note(job, { done: 1 })
    return trouble && NO_SIGNAL
  }

  /** Settles the job unless the trouble applies to the whole chat. */
  const finish = async (job: Job, trouble: ChannelTrouble | undefined): Promise<ChannelTrouble | undefined> => {
    if (trouble && !isOver(trouble)) return trouble
    await queue.settle(job, "done", trouble && "why" in trouble ? trouble.why : null)
    return trouble && NO_SIGNAL
  }

  const changeTopic = async (job: Job, at: JobPlace): Promise<ChannelTrouble | undefined> => {
    if (job.outgoing.kind !== "topic" || !at.topic) return undefined
    const told = await life.change(at.topic, job.outgoing.change, at.budget)
    if (told.ok) await queue.settle(job, "done", null)
    else if (["wait", "away", "unclear", "unauthorised", "no_chat", "conflict"].includes(told.trouble.kind))
      return told.trouble
    else {
      const why = "why" in told.trouble ? told.trouble.why : told.trouble.kind
      const isGone = told.trouble.kind === "topic_gone"
      if (isGone)
        await store.topics.change(at.topic.id, { state: "gone", progressMessage: null }, undefined, at.topic.chatId)
      else onTrouble(new Error(why), `${job.delivery.key}: the topic stays as it is`)
      const isNeedless = isGone || told.trouble.kind === "no_topics"
      await queue.settle(job, isNeedless ? "done" : "failed", why)
      return NO_SIGNAL
    }
    return undefined
  }

  const prepare = async (job: Job, at: JobPlace): Promise<ChannelTrouble | undefined> => {
    if (at.topic!.state === "gone") {
      await life.remake(at.topic!)
      return NO_SIGNAL
    }
    const told = await life.prepare(at.topic!, at.budget)
    if (told.ok) return undefined
    const { trouble } = told
    if (trouble.kind === "topic_gone") return saying.topicTrouble(job, at.topic, trouble)
    if (trouble.kind !== "refused" && trouble.kind !== "gone") return trouble
    // A topic that cannot be reopened is replaced; if none can be created, a person has to fix that.
    if (at.topic!.threadId !== null) return saying.topicTrouble(job, at.topic, { ...trouble, kind: "topic_gone" })
    return { kind: "no_rights", why: trouble.why }
  }

  return {
    async next(job: Job, at: JobPlace): Promise<Step> {
      const { outgoing, progress } = job
      let here = at
      let waitUntilMs = 0
      const { topic } = at
      const keep =
        outgoing.kind === "approval" || outgoing.kind === "decided" ? 0 : isAnswer(job) ? 1 : settings.keptForApprovals
      const step = (call: CallKind, run: Step["run"], notBeforeMs = 0): Step => ({ call, keep, notBeforeMs, run })
      const isSpoken = topic && (isReady(topic) || at.isFlat)
      const isEnding = isSpoken && topic.progressMessage && topic.progressMessage.cut > 0 && progress.done === 0
      switch (outgoing.kind) {
        case "receipt":
          if (progress.done > 0) break
          if (await coalescer.isOutdated(job)) return step("react", () => finish(job, { kind: "unchanged" }))
          return step("react", () => receipt(job, at, outgoing.messageId, outgoing.state))
        case "waited":
          if (await coalescer.isOutdated(job)) return step("edit", () => finish(job, { kind: "unchanged" }))
          return step("edit", () => waited(job, at, outgoing.noticeId))
        case "decided":
          return step("edit", () => decide(job, at, outgoing.permissionId))
        case "topic":
          if (isEnding && endsProgress(job)) break
          // Later messages do not wait for a topic that does not exist.
          if (at.isFlat && flat.isInstead(topic!.chatId, outgoing.kind))
            return step("edit", async () => {
              await queue.settle(job, "done", "the chat has no topics now")
              return NO_SIGNAL
            })
          return step("topic", () => changeTopic(job, at))
        case "answer":
          break
        default:
          // Don't open a topic for a message that may be delivered in the meantime.
          if (outgoing.kind === "waiting") waitUntilMs = await waitDueAtMs(store, outgoing.noticeId)
          if (waitUntilMs > clock.nowMs()) break
          if (!topic || isReady(topic)) break
          if (!flat.isInstead(topic.chatId, outgoing.kind)) return step("topic", () => prepare(job, at))
          here = { ...at, place: { chatId: topic.chatId, threadId: null }, isFlat: true }
      }
      if (outgoing.kind === "line" && topic?.progressMessage && progress.unconfirmed === 0) {
        const { progressMessage } = topic
        const atMs = (editedAtMs.get(topic.id) ?? 0) + paceMs(topic.chatId)
        const isPaced = atMs > clock.nowMs() && !(await coalescer.isMoreThanLines(job))
        return step("edit", () => growProgress(job, here, progressMessage), isPaced ? atMs : 0)
      }
      if (isEnding && endsProgress(job)) {
        const progressMessage = topic.progressMessage!
        return step("send", () => saying.endProgress(job, { ...here, topic: { ...topic, progressMessage } }))
      }
      return step("send", () => saying.say(job, here, keep), waitUntilMs)
    },
  }
}

/** Where there are no topics, a message names its session. */
const labelled = ({ isFlat, topic }: JobPlace, body: RichText) =>
  isFlat ? joined([labelOf(topic!.name), body], "\n") : body

const isAnswer = ({ outgoing: { kind } }: Job) =>
  kind === "answer" || kind === "receipt" || kind === "waiting" || kind === "waited"

/** Nothing more can be done about it. */
const isOver = ({ kind }: ChannelTrouble) =>
  ["unchanged", "gone", "refused", "topic_gone", "topic_closed", "no_rights", "no_topics"].includes(kind)

function markOf(state: DeliveryState): ReceiptMark {
  if (state === "queued") return "queued"
  return state === "delivered" || state === "seen" || state === "running" || state === "done" ? "submitted" : "failed"
}
