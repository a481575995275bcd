import { createHash } from "node:crypto"
import { admittedOf, type Channel, type IncomingMessage } from "../../domain/channel.ts"
import type { Delivery } from "../../domain/delivery.ts"
import { messageOf } from "../../domain/message.ts"
import type { MessagePart } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { Write } from "./handling.ts"

/**
 * Apps send a text that is too long in several messages, and nothing says that they belong together. Some cut at the limit, others at
 * a line or a sentence in the second half of what fits. So a message of at least half the limit may go on in the next one of the same
 * person in the same place, if that was sent within a moment.
 */
export interface Fragments {
  /** The text as it was written, or undefined while more of it may come. */
  gather(message: IncomingMessage, delivery: Delivery, sent: Delivery | undefined): Promise<Gathered | undefined>
}

export interface Gathered {
  /** The first of them, with the words of all. */
  message: IncomingMessage
  /** Where the words of each one are. */
  parts: MessagePart[]
  /** What was taken in of the others: settled together with the first. */
  rest: Delivery[]
}

export interface FragmentDeps {
  store: Store
  clock: Clock
  channel: Channel
  /** Since when whatever people write is taken in at once; undefined while that cannot be told. */
  listeningSinceMs(): number | undefined
}

/** Between two fragments, by the messenger's clock, which counts seconds. */
const NEXT_WITHIN_MS = 2_000
/** Nothing more came for so long after the last one was taken in: a little more than may be between two. */
const QUIET_MS = 2_500
/** While Telegram is not reached, the rest may still come; but what is here does not wait for long. */
const MOST_MS = 30_000

export function makeFragments({ store, clock, channel, listeningSinceMs }: FragmentDeps): Fragments {
  /** A daemon that was away has to hear first what was written meanwhile. */
  const isQuiet = ({ createdAtMs }: Delivery) => {
    const [nowMs, sinceMs] = [clock.nowMs(), listeningSinceMs()]
    if (nowMs - createdAtMs < QUIET_MS) return false
    return sinceMs === undefined ? nowMs - Math.max(createdAtMs, begunAtMs) > MOST_MS : nowMs - sinceMs >= QUIET_MS
  }
  const begunAtMs = clock.nowMs()
  const most = channel.can.maxTextUnits

  const isText = (one: IncomingMessage) =>
    !one.isEdit && one.files.length === 0 && one.otherKind === null && one.text !== ""

  /** An app that cuts at the limit has no more to send after a shorter one. */
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

  const behind = async (delivery: Delivery, from: IncomingMessage) =>
    (await store.deliveries.pending(delivery.lane))
      .filter(({ seq }) => seq > delivery.seq)
      .flatMap((other) => {
        const read = channel.read(admittedOf(other).raw)
        const isTheirs = read?.kind === "message" && read.from.userId === from.from.userId
        // An edit says nothing of what comes next.
        return isTheirs && !read.isEdit ? [{ delivery: other, message: read }] : []
      })

  return {
    async gather(message, delivery, sent) {
      if (!isText(message) || !mayGoOn([message])) return alone(message)
      const others = await behind(delivery, message)
      // A daemon that died after it was sent: what was in it then is in it, and nothing else.
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

/** As long as can be; or one unit shorter, where a character of two did not fit. */
const isFull = (text: string, most: number) => text.length >= most - 1

/** One that was cut at the limit goes on where it was cut; what was left out at any other border is a line's end, or a blank. */
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

/** By which an edit that changes nothing is known: the words themselves may be composed with others. */
export const digestOf = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 16)

/** Settles what was taken in with another one, in its transaction. */
export const settledWith = (key: string, others: readonly Delivery[], nowMs: number): Write[] =>
  others.map(
    (other): Write =>
      async (tx) => {
        if (await tx.deliveries.move(other.seq, ["queued"], "done", `with ${key}`, nowMs))
          await tx.deliveries.rewrite(other.seq, { ...other.payload, raw: undefined })
      },
  )
