import type { IncomingMessage, IncomingPress } from "../../domain/channel.ts"
import { chatLane, type Outgoing, type OutgoingButton } from "../../domain/outgoing.ts"
import { plain, type RichText } from "../../domain/rich-text.ts"
import { toShow } from "../to-show.ts"
import type { Write } from "./handling.ts"

export interface AnswerOptions {
  buttons?: OutgoingButton[][]
  /** Distinguishes two answers to one message. */
  part?: string
  /** Not sent again under the same name. */
  once?: string
}

/** Answers to what somebody did: one each, however often the update is handled. */
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
    return (tx) =>
      tx.deliveries.enqueue(toShow(`${channel}:answer:${once ?? own}`, chatLane(chatId), channel, payload), nowMs())
  }
}

export type Answers = ReturnType<typeof makeAnswers>
