import type { IncomingMessage } from "../../domain/channel.ts"
import { openQuestion } from "./buttons.ts"
import { type ApprovalDeps, makeAnswering, type Presser, subjectOf } from "./presses.ts"

export type ApprovalReply = ReturnType<typeof makeApprovalReply>

/** A reply to an approval request answers its question, or gives the reason why it is denied. */
export function makeApprovalReply(deps: ApprovalDeps) {
  const answering = makeAnswering(deps)
  const permissionOf = async ({ replyTo, place }: IncomingMessage) => {
    if (!replyTo?.isOurs) return undefined
    const approval = await deps.store.approvalRequests.byMessage(deps.channel, place.chatId, replyTo.messageId)
    return approval && (await deps.store.permissions.byId(approval.permissionId))
  }
  return {
    /** What the approval request is about; undefined for any other message. */
    about: async (message: IncomingMessage) => subjectOf(await permissionOf(message)),
    /** The answer to its sender; undefined for any other message. */
    async reply(message: IncomingMessage, by: Presser): Promise<string | undefined> {
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
