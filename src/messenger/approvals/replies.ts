import type { IncomingMessage } from "../../domain/channel.ts"
import type { Subject } from "../../domain/outgoing.ts"
import { openQuestion } from "./buttons.ts"
import { type CardDeps, makeAnswering, subjectOf, type Tapper } from "./taps.ts"

/** A reply to a card is meant for what the card asks: own words for its question, or why it is denied. */
export interface CardReply {
  /** What the card is about; undefined where it is no reply to a card. */
  about(message: IncomingMessage): Promise<Subject | undefined>
  /** What whoever wrote it is told; undefined where it is no reply to a card. */
  reply(message: IncomingMessage, by: Tapper): Promise<string | undefined>
}

export function makeCardReply(deps: CardDeps): CardReply {
  const answering = makeAnswering(deps)
  const permissionOf = async ({ replyTo, place }: IncomingMessage) => {
    if (!replyTo?.isOurs) return undefined
    const card = await deps.store.cards.byMessage(deps.channel, place.chatId, replyTo.messageId)
    return card && (await deps.store.permissions.byId(card.permissionId))
  }
  return {
    about: async (message) => subjectOf(await permissionOf(message)),
    async reply(message, by) {
      const permission = await permissionOf(message)
      if (!permission) return undefined
      const words = message.text.trim()
      if (words === "") return "Answer this request in words, or with its buttons."
      const open = openQuestion(permission)
      const told = open
        ? await answering.answer(permission, open.question.key, [words], by, message.place)
        : await answering.decide(permission, { kind: "deny", reason: words }, by)
      return told.text ?? "Noted."
    },
  }
}
