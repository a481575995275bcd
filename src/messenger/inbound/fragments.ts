import { createHash } from "node:crypto"
import { admittedOf, type Channel, type IncomingMessage } from "../../domain/channel.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { messageOf } from "../../domain/message.ts"
import type { MessagePart } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { Write } from "./handling.ts"

export interface Gathered {
  /** The first message, with the text of all. */
  message: IncomingMessage
  /** The position of each message in the text. */
  parts: MessagePart[]
  /** The deliveries of the others: settled together with the first. */
  rest: Delivery[]
}

export interface FragmentDeps {
  store: Store
  clock: Clock
  channel: Channel
  /** Since when updates arrive without delay; undefined while unknown. */
  listeningSinceMs(): number | undefined
}

/** Between two fragments, by the messenger's clock in seconds. */
const NEXT_WITHIN_MS = 2_000
/** The pause after which a text is complete: a little longer than between two fragments. */
const QUIET_MS = 2_500
/** While Telegram is unreachable, the rest may still come; wait only so long for it. */
const MOST_MS = 30_000

export type Fragments = ReturnType<typeof makeFragments>

/**
 * Apps split a long text into several messages, and nothing says that they belong together. Some cut at the limit, others at
 * a line or a sentence in the second half. So a message of at least half the limit may continue in the next one of the same
 * person in the same place, if that follows within a moment.
 */
export function makeFragments({ store, clock, channel, listeningSinceMs }: FragmentDeps) {
  /** A daemon that was down has to receive the backlog first. */
  const isQuiet = ({ createdAtMs }: Delivery) => {
    const [nowMs, sinceMs] = [clock.nowMs(), listeningSinceMs()]
    if (nowMs - createdAtMs < QUIET_MS) return false
    return sinceMs === undefined ? nowMs - Math.max(createdAtMs, begunAtMs) > MOST_MS : nowMs - sinceMs >= QUIET_MS
  }
  const begunAtMs = clock.nowMs()
  const most = channel.can.maxTextUnits

  const isText = (one: IncomingMessage) =>
    !one.isEdit && one.files.length === 0 && one.otherKind === null && one.text !== ""

  /** An app that cuts at the limit sends nothing after a shorter message. */
  const mayGoOn = (parts: readonly IncomingMessage[]) => {
    const last = parts.at(-1)!.text
    const isCutAtLimit = parts.slice(0, -1).some(({ text }) => isFull(text, most))
    return isCutAtLimit ? isFull(last, most) : last.length >= most / 2
  }

  const isNext = (parts: readonly IncomingMessage[], next: IncomingMessage) => {
    const last = parts.at(-1)!
    return (
      mayGoOn(parts) &&
      isText(next) &&
      (next.replyTo === null || next.replyTo.messageId === parts[0]!.replyTo?.messageId) &&
      next.forwardedFrom === last.forwardedFrom &&
      next.messageId > last.messageId &&
      Math.abs(next.atMs - last.atMs) <= NEXT_WITHIN_MS
    )
  }

  const behind = async (delivery: Delivery, first: IncomingMessage) =>
    // An edit does not say what comes next.
    (await messagesBehind(store, channel, delivery)).filter(({ message }) => message.from.userId === first.from.userId)

  return {
    /** The whole text, or undefined while more of it may come. */
    async gather(
      message: IncomingMessage,
      delivery: Delivery,
      sent: Delivery | undefined,
    ): Promise<Gathered | undefined> {
      if (!isText(message) || !mayGoOn([message])) return alone(message)
      const others = await behind(delivery, message)
      // A daemon died after sending it: its fragments are fixed.
      const known = sent && messageOf(sent).origin?.parts?.map(({ messageId }) => messageId)
      const parts = [{ message, delivery }]
      for (const next of others) {
        const so = parts.map((one) => one.message)
        if (!(known ? known.includes(next.message.messageId) : isNext(so, next.message))) break
        parts.push(next)
      }
      const messages = parts.map((one) => one.message)
      const isOver = known !== undefined || !mayGoOn(messages) || others.length >= parts.length
      if (!isOver && !isQuiet(parts.at(-1)!.delivery)) return undefined
      return { ...joined(messages, most), rest: parts.slice(1).map((one) => one.delivery) }
    },
  }
}

const alone = (message: IncomingMessage): Gathered => ({ ...joined([message], 0), rest: [] })

/** At the limit, or one unit shorter, where a surrogate pair did not fit. */
const isFull = (text: string, most: number) => text.length >= most - 1

/** A cut at the limit drops nothing; any other cut drops a line break or a space. */
function joined(messages: IncomingMessage[], most: number): Omit<Gathered, "rest"> {
  let text = ""
  const parts: MessagePart[] = []
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1]
    if (before) text += isFull(before.text, most) ? "" : "\n"
    parts.push(partOf(message, text.length))
    text += message.text
  }
  return { message: { ...messages[0]!, text }, parts }
}

export const partOf = ({ messageId, text }: IncomingMessage, offset: number): MessagePart => ({
  messageId,
  offset,
  length: text.length,
  digest: digestOf(text),
})

/** Detects an edit that changes nothing: the text itself may be part of a longer one. */
export const digestOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Settles deliveries that were handled together with another one, in its transaction. */
export const settledWith = (key: string, others: readonly Delivery[], nowMs: number): Write[] =>
  others.map(
    (other): Write =>
      async (tx) => {
        if (await tx.deliveries.move(other.seq, ["queued"], "done", `with ${key}`, nowMs))
          await tx.deliveries.rewrite(other.seq, { ...other.payload, raw: undefined })
      },
  )

/** The messages behind this delivery in its lane, without edits. */
export async function messagesBehind(store: Store, channel: Channel, { lane, seq }: Delivery) {
  const later = (await store.deliveries.pending(lane)).filter((one) => one.seq > seq)
  return later.flatMap((delivery) => {
    const message = channel.read(admittedOf(delivery).raw)
    return message?.kind === "message" && !message.isEdit ? [{ delivery, message }] : []
  })
}
