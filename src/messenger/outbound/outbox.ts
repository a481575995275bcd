import type { Channel } from "../../domain/channel.ts"
import type { Outgoing } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
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
import { type OutboxStatus, statusOf } from "./status.ts"
import { makeSteps, type OutboxSettings, type Step } from "./steps.ts"
import { makeTopicLife } from "./topics.ts"
import { makeUndeliverable } from "./undeliverable.ts"

/** Says in a messenger what is still to be said there: in order for each topic, one call at a time for each chat. */
export interface Outbox {
  run(signal: AbortSignal): Promise<void>
  /** There may be something to say. A hint; losing one costs a second. */
  nudge(): void
  status(): Promise<OutboxStatus>
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
/** What comes behind the heads of lanes may hurry them, and is looked at so often. */
const REST_MS = 300
/** So long a reply to a message finds its session. */
const REMEMBERED_MS = 90 * DAY_MS

export function makeOutbox(deps: OutboxDeps): Outbox {
  const { store, clock, channel, botId, home, host, onTrouble } = deps
  const rendering: Rendering = {
    line: (seq) => deps.rendering.line(seq),
    // What was forgotten while it was under way has no words any more.
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
  /** Chats to which a call is under way. */
  const busy = new Set<string>()
  const servedAtMs = new Map<string, number>()
  const foreign = new Set<string>()
  /** Approval requests that people got in private, because their chat cannot be written to. */
  const askedElsewhere = new Set<string>()
  /** Chats in which nothing could be done a moment ago, and until when that is taken for granted. */
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

  /** Begins the most urgent that may be done there now, or says when something may be. */
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

  /** A notice that may be there is not sent twice: of what waits its mark tells still, and a later message gets another one. */
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

  /** Answers with when to look again. */
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
    // Not lanes pause here, but chats.
    backoff: makeBackoff({}),
    most: 1_000,
    sweepMs: 10_000,
    gatherMs: 50,
    // Who is not answered by then may have been heard: that is found out when it goes on.
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
      // What was begun comes back as something that may have happened when its lease is over.
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
    status: () => statusOf({ store, channelId: channel.id, botId, home }),
  }
}

const MOST_LANES = 10_000

const hasWords = ({ kind }: Outgoing) => kind === "note" || kind === "answer"

/** What waits for a person, then what a person waits for, then what was said. */
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
