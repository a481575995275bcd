import type { Channel } from "../../domain/channel.ts"
import type { Hold } from "../../domain/channel-store.ts"
import type { DeliveryState } from "../../domain/delivery.ts"
import type { Outgoing } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import { makeBackoff } from "../../lib/backoff.ts"
import type { Clock } from "../../lib/clock.ts"
import { makeLaneRunner } from "../../lib/lane-runner.ts"
import { DAY_MS } from "../../lib/time.ts"
import { makeChats } from "./chats.ts"
import { makeCoalescer } from "./coalesce.ts"
import { makeFlatChats } from "./flat.ts"
import { makeHolds } from "./holds.ts"
import { makeLocating } from "./locating.ts"
import { notConfirmed } from "./progress.ts"
import { endIdleProgress } from "./progress-message.ts"
import { type Job, makeOutboxQueue } from "./queue.ts"
import type { Rendering } from "./rendering.ts"
import { makeSteps, type OutboxSettings, type Step } from "./steps.ts"
import { makeTopicLife } from "./topics.ts"
import { makeUndeliverable } from "./undeliverable.ts"

/** Sends pending messages: in order for each topic, one call at a time for each chat. */
export interface Outbox {
  run(signal: AbortSignal): Promise<void>
  /** There may be something to send. A hint; losing one costs a second. */
  nudge(): void
  status(): Promise<OutboxStatus>
}

/** The state of the outbox, for people. */
export interface OutboxStatus {
  waiting: number
  /** Rejected in every form. */
  failed: number
  /** Unconfirmed permanently. */
  uncertain: number
  /** Chats on hold, and why. */
  holds: Hold[]
  /** Topics that may exist twice: an empty one of this name may be in the chat. */
  orphans: Pick<Topic, "id" | "chatId" | "name" | "unconfirmed">[]
}

export interface OutboxDeps {
  store: Store
  clock: Clock
  channel: Channel
  botId: string
  /** Only topics of this data directory are written to. */
  home: string
  host: string
  rendering: Rendering
  isGroup(chatId: string): boolean
  settings?: Partial<OutboxSettings>
  onTrouble(error: unknown, what: string): void
}

const SETTINGS: OutboxSettings = { keptForApprovals: 3, progressEditMs: 4_000 }
/** Deliveries behind the head of a lane may make it more urgent: check this often. */
const REST_MS = 300
/** How long a reply to a message finds its session. */
const REMEMBERED_MS = 90 * DAY_MS

export function makeOutbox(deps: OutboxDeps): Outbox {
  const { store, clock, channel, botId, home, host, onTrouble } = deps
  const rendering: Rendering = {
    line: (seq) => deps.rendering.line(seq),
    // A delivery that was forgotten meanwhile has no text.
    parts: async (outgoing) => ("body" in outgoing || !hasWords(outgoing) ? deps.rendering.parts(outgoing) : undefined),
  }
  const ownerPrefix = `outbox ${host} ${home} `
  const queue = makeOutboxQueue({ ...deps, channelId: channel.id, ownerPrefix })
  const holds = makeHolds({ ...deps, channelId: channel.id })
  const chats = makeChats({ ...deps, can: channel.can, holds })
  const flat = makeFlatChats({ ...deps, channelId: channel.id, holds })
  const undeliverable = makeUndeliverable({ ...deps, channelId: channel.id, queue })
  const locating = makeLocating({ ...deps, queue, chats, flat })
  const steps = makeSteps({
    ...deps,
    rendering,
    queue,
    coalescer: makeCoalescer({ store, can: channel.can, rendering }),
    life: makeTopicLife(deps),
    flat,
    undeliverable,
    settings: { ...SETTINGS, ...deps.settings },
    activeTopics: (chatId) =>
      queue.jobs().filter((job) => job.outgoing.kind === "line" && locating.chatOf(job) === chatId).length,
  })
  /** Chats with a call in progress. */
  const busy = new Set<string>()
  const servedAtMs = new Map<string, number>()
  const foreign = new Set<string>()
  /** Approval requests sent in private, because their chat cannot be written to. */
  const askedElsewhere = new Set<string>()
  /** Chats in which nothing could be done a moment ago, and until when to assume so. */
  const resting = new Map<string, number>()

  const act = async (chatId: string, job: Job, step: Step) => {
    servedAtMs.set(job.delivery.lane, clock.nowMs())
    try {
      await chats.heed(chatId, step.call, await step.run())
    } finally {
      busy.delete(chatId)
      resting.delete(chatId)
    }
  }

  /** Begins the most urgent call to the chat, or returns when one is possible. */
  const advance = async (chatId: string, jobs: Job[]): Promise<number> => {
    const nowMs = clock.nowMs()
    const readyAtMs = await chats.readyAtMs(chatId)
    if (readyAtMs > nowMs) return readyAtMs
    const order = (job: Job) => [rankOf(job), servedAtMs.get(job.delivery.lane) ?? 0, job.delivery.seq] as const
    let nextMs = Number.POSITIVE_INFINITY
    for (const job of jobs.toSorted((a, b) => compare(order(a), order(b)))) {
      const at = await locating.at(job)
      if (!at) continue
      const step = await steps.next(job, at)
      const atMs = await chats.stepAtMs(chatId, step)
      if (atMs <= nowMs) {
        busy.add(chatId)
        runner.start(job.delivery, () => act(chatId, job, step))
        return nowMs
      }
      nextMs = Math.min(nextMs, atMs)
      const isOriginal = job.outgoing.kind === "approval" && "topicId" in job.outgoing
      if (isOriginal && holds.ofChat(chatId) && !askedElsewhere.has(job.delivery.key)) {
        askedElsewhere.add(job.delivery.key)
        await undeliverable.askElsewhere(job, chatId)
      }
    }
    return nextMs
  }

  /** A notice that may have been sent is not repeated: the message's mark still shows that it waits, and a later message gets a new notice. */
  const leave = async (job: Job, noticeId: string) => {
    const notice = await store.waitNotices.byId(noticeId)
    await queue.settle(job, "uncertain", "it may be there", async (tx) => {
      if (notice) await tx.waitNotices.put({ ...notice, sinceMs: 0 })
    })
  }

  const admit = async (job: Job) => {
    // Its dispatcher ended in the middle of a call.
    if (job.progress.isUnderWay && job.outgoing.kind === "waiting") return leave(job, job.outgoing.noticeId)
    if (job.progress.isUnderWay) await queue.note(job, notConfirmed(job.progress))
    const whose = await locating.whose(job)
    resting.delete(locating.chatOf(job))
    if (whose === "nobody's") await queue.settle(job, "failed", "there is no such topic")
    if (whose !== "another's") return
    foreign.add(job.delivery.lane)
    await queue.leases.giveBack(job.delivery, "it is another daemon's")
  }

  /** Returns when to look again. */
  const plan = async (): Promise<number> => {
    const nowMs = clock.nowMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const [chatId, jobs] of Map.groupBy(queue.jobs(), locating.chatOf)) {
      if (busy.has(chatId)) continue
      let atMs = resting.get(chatId) ?? 0
      if (atMs <= nowMs) {
        atMs = await advance(chatId, jobs)
        if (!busy.has(chatId)) resting.set(chatId, Math.min(atMs, nowMs + REST_MS))
      }
      nextMs = Math.min(nextMs, atMs)
    }
    if (servedAtMs.size > MOST_LANES) servedAtMs.clear()
    return nextMs
  }

  const runner = makeLaneRunner({
    name: `${channel.id} outbox`,
    clock,
    leases: queue.leases,
    // Chats pause here, not lanes.
    backoff: makeBackoff({}),
    most: 1_000,
    sweepMs: 10_000,
    gatherMs: 50,
    // A call without an answer by then may have arrived: recovery handles it.
    endMs: 5_000,
    onWake: store.onWake,
    onTrouble,
    handler: {
      async open() {
        await holds.open()
        await store.topics.forgetMessages(clock.nowMs() - REMEMBERED_MS)
        await store.waitNotices.drop(clock.nowMs() - REMEMBERED_MS)
      },
      async sweep() {
        foreign.clear()
        await endIdleProgress(store, channel.id, home, clock.nowMs())
      },
      recover: (delivery) => admit(queue.jobOf(delivery)),
      except: () => foreign,
      take: (delivery) => admit(queue.jobOf(delivery)),
      plan,
      // A call that was begun comes back as unconfirmed when its lease is over.
      failed: (delivery, error) => onTrouble(error, `${channel.id} ${locating.chatOf(queue.jobOf(delivery))}`),
    },
  })

  return {
    async run(signal) {
      await runner.run(signal)
      try {
        for (const { delivery, progress } of queue.jobs())
          if (!progress.isUnderWay) await queue.leases.giveBack(delivery, "the outbox was stopped")
      } catch (error) {
        onTrouble(error, "what was not said is taken up again by its lease")
      }
    },
    nudge: runner.ring,
    async status() {
      const counts = await store.deliveries.counts(channel.id)
      const sum = (state: DeliveryState) => counts.reduce((all, one) => all + (one.state === state ? one.count : 0), 0)
      const topics = await store.topics.list({ channel: channel.id })
      return {
        ...{ waiting: sum("queued"), failed: sum("failed"), uncertain: sum("uncertain") },
        holds: await store.holds.list(`${channel.id}:${botId}`),
        orphans: topics
          .filter((topic) => topic.home === home && topic.unconfirmed > 0)
          .map(({ id, chatId, name, unconfirmed }) => ({ id, chatId, name, unconfirmed })),
      }
    },
  }
}

const MOST_LANES = 10_000

const hasWords = ({ kind }: Outgoing) => kind === "note" || kind === "answer"

/** Requests to a person, then what a person waits for, then the conversation. */
const rankOf = ({ delivery, outgoing }: Job) =>
  delivery.lane.endsWith("!first") || outgoing.kind === "approval"
    ? 0
    : outgoing.kind === "receipt"
      ? 1
      : outgoing.kind === "answer" || outgoing.kind === "waiting" || outgoing.kind === "waited"
        ? 2
        : 3

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at < 0 ? 0 : a[at]! - b[at]!
}
