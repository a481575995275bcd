import type { ChannelTrouble } from "../../domain/channel.ts"
import { approvalCopyKey, chatLane, type Outgoing, topicLane } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import type { Clock } from "../../lib/clock.ts"
import { toShow } from "../to-show.ts"
import type { Job, OutboxQueue } from "./queue.ts"
export interface UndeliverableDeps {
  store: Store
  clock: Clock
  channelId: string
  queue: OutboxQueue
}

/** The prefix of the keys of such notes. One that is rejected in its topic goes to the chat itself. */
const ABOUT = "undeliverable:"

export type Undeliverable = ReturnType<typeof makeUndeliverable>

/** Messages that the messenger rejects permanently: the recipient is notified in another way. */
export function makeUndeliverable({ store, clock, channelId, queue }: UndeliverableDeps) {
  const enqueue = (tx: Store, key: string, lane: string, payload: Outgoing) =>
    tx.deliveries.enqueue(toShow(key, lane, channelId, payload), clock.nowMs())

  /** In private, for each person who may answer. */
  const forPeople = async (tx: Store, exceptChatId: string, act: (chatId: string) => Promise<unknown>) => {
    for (const { chatId } of await tx.people.list(channelId))
      if (chatId !== null && chatId !== exceptChatId) await act(chatId)
  }

  return {
    /** Rejected in every form. Returns what applies to the whole chat: there not even a few words are accepted. */
    async giveUp(job: Job, topic: Topic | undefined, why: string): Promise<ChannelTrouble | undefined> {
      const { delivery, outgoing } = job
      const isAbout = delivery.key.startsWith(ABOUT)
      const chatId = topic?.chatId ?? ("chatId" in outgoing ? outgoing.chatId : "")
      const isApproval = outgoing.kind === "approval"
      const body = "body" in outgoing && isAbout ? outgoing.body : plain(isApproval ? approvalWords(why) : wordsOf(why))
      if (isAbout && !topic) {
        // A few plain words in the chat itself are rejected: the chat is the problem, not the message.
        await queue.note(job, { isUnderWay: false, form: 0 }, (tx) =>
          forPeople(tx, chatId, (to) =>
            enqueue(tx, `${delivery.key}:elsewhere:${to}`, chatLane(to), { ...answer(body), isPing: true, chatId: to }),
          ),
        )
        return { kind: "no_rights", why }
      }
      const key = isAbout ? `${delivery.key}:chat` : `${ABOUT}${delivery.key}`
      await queue.settle(job, "failed", why, async (tx) => {
        const data = { channel: channelId, key: delivery.key, kind: outgoing.kind, why }
        await tx.audit.add({ atMs: clock.nowMs(), who: "throughline", what: "channel.undeliverable", data })
        if (topic && !isAbout)
          await enqueue(tx, key, topicLane(topic, true), { kind: "note", topicId: topic.id, body, isPing: isApproval })
        else if (outgoing.kind !== "receipt") await enqueue(tx, key, chatLane(chatId), { ...answer(body), chatId })
      })
      return undefined
    },
    /** The chat of an approval request cannot be written to: people with a private chat get it there. */
    async askElsewhere({ outgoing }: Job, chatId: string): Promise<void> {
      if (outgoing.kind !== "approval") return
      const { permissionId } = outgoing
      await store.transaction((tx) =>
        forPeople(tx, chatId, (to) =>
          enqueue(tx, approvalCopyKey(permissionId, to), chatLane(to), {
            kind: "approval",
            chatId: to,
            threadId: null,
            permissionId,
          }),
        ),
      )
    },
  }
}

type Answer = Extract<Outgoing, { kind: "answer" }>

const answer = (body: Answer["body"]): Omit<Answer, "chatId"> => ({ kind: "answer", threadId: null, body })
const wordsOf = (why: string) =>
  `⚠️ A message could not be shown here: Telegram refused it in every form (${why}). Read it in the dashboard: throughline dashboard`
const approvalWords = (why: string) =>
  `✋ An approval request is pending, but Telegram rejects it (${why}). Answer it at the agent's terminal or in the dashboard; throughline waiting lists it.`
