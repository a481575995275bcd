import type { IncomingMessage, IncomingPress } from "../../domain/channel.ts"
import type { NewDelivery } from "../../domain/delivery.ts"
import { chatLane, type Outgoing, type OutgoingButton } from "../../domain/outgoing.ts"
import { plain, type RichText } from "../../domain/rich-text.ts"
import { MAX_ATTEMPTS } from "../../lib/transitions.ts"
import type { Write } from "./handling.ts"

/** Something to be shown in a chat, under a key of what it tells. */
export function toShow(channel: string, key: string, lane: string, payload: Outgoing): NewDelivery {
  // Only a message that is sent can be there twice.
  const repeatable = payload.kind === "waited" || (payload.kind === "receipt" && payload.why === null)
  return { key: `${channel}:${key}`, lane, channel, payload: { ...payload }, repeatable, maxAttempts: MAX_ATTEMPTS }
}

export interface AnswerOptions {
  buttons?: OutgoingButton[][]
  /** Tells two answers to one message apart. */
  part?: string
  /** Not sent where one of this name was sent before. */
  once?: string
}

/** Makes the answers to what somebody did: one for each, however often it is handled. */
export function makeAnswers({ channel, nowMs }: { channel: string; nowMs(): number }) {
  return (to: IncomingMessage | IncomingPress, body: RichText | string, options: AnswerOptions = {}): Write => {
    const { chatId, threadId } = to.place
    const { buttons, part, once } = options
    const own = `${chatId}:${to.kind === "press" ? to.pressId : to.messageId}${part === undefined ? "" : `:${part}`}`
    const payload: Outgoing = {
      kind: "answer",
      chatId,
      threadId,
      body: typeof body === "string" ? plain(body) : body,
      ...(to.kind === "press" ? {} : { replyTo: to.messageId }),
      ...(buttons ? { buttons } : {}),
    }
    return (tx) => tx.deliveries.enqueue(toShow(channel, `answer:${once ?? own}`, chatLane(chatId), payload), nowMs())
  }
}

export type Answers = ReturnType<typeof makeAnswers>
