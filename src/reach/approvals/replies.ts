import type { IncomingMessage } from "../../domain/channel.ts"
import { openQuestion } from "./buttons.ts"
import { type CardDeps, makeAnswering, type Tapper } from "./taps.ts"

/** A reply to a card is meant for what the card asks: own words for its question, or why it is denied. */
export type CardReply = (message: IncomingMessage, by: Tapper) => Promise<string | undefined>

/** What whoever wrote it is told; undefined where it is no reply to a card. */
export function makeCardReply(deps: CardDeps): CardReply {
  const answering = makeAnswering(deps)
  return async ({ replyTo, place, text }, by) => {
    if (!replyTo?.isOurs) return undefined
    const card = await deps.store.cards.byMessage(deps.channel, place.chatId, replyTo.messageId)
    const permission = card && (await deps.store.permissions.byId(card.permissionId))
    if (!permission) return undefined
    const words = text.trim()
    if (words === "") return "A card is answered in words, or by its buttons."
    const open = openQuestion(permission)
    const told = open
      ? await answering.answer(permission, open.question.key, [words], by, place)
      : await answering.decide(permission, { kind: "deny", reason: words }, by)
    return told.text ?? "Noted."
  }
}
