import type { ChatMember } from "grammy/types"
import type { Api } from "grammy/web"
import type { ChatLook } from "../../domain/channel.ts"

/** The bot's rights in a chat; undefined where it is not a member. */
export async function lookAt(
  raw: Api["raw"],
  chatId: string,
  botId: string,
  stop: never,
): Promise<ChatLook | undefined> {
  const chat = await raw.getChat({ chat_id: chatId }, stop)
  if (chat.type === "private") {
    const { has_topics_enabled: hasTopics = false } = await raw.getMe(stop)
    const title = [chat.first_name, chat.last_name].filter(Boolean).join(" ")
    const may = { isAdmin: true, mayManageTopics: hasTopics, mayDeleteMessages: true }
    return { kind: "private", title, hasTopics, ...may, adminBots: [] }
  }
  const member = await raw.getChatMember({ chat_id: chatId, user_id: Number(botId) }, stop)
  if (member.status === "left" || member.status === "kicked") return undefined
  const hasTopics = "is_forum" in chat && chat.is_forum === true
  // Servers without this parameter do not report other bots.
  const admins = await raw.getChatAdministrators({ chat_id: chatId, return_bots: true }, stop)
  const adminBots = admins.flatMap(({ user }) => (user.is_bot ? [String(user.id)] : []))
  return { kind: "group", title: chat.title ?? "", hasTopics, ...rightsOf(member), adminBots }
}

function rightsOf(member: ChatMember): Pick<ChatLook, "isAdmin" | "mayManageTopics" | "mayDeleteMessages"> {
  if (member.status === "creator") return { isAdmin: true, mayManageTopics: true, mayDeleteMessages: true }
  if (member.status !== "administrator") return { isAdmin: false, mayManageTopics: false, mayDeleteMessages: false }
  const { can_manage_topics: mayManageTopics = false, can_delete_messages: mayDeleteMessages } = member
  return { isAdmin: true, mayManageTopics, mayDeleteMessages }
}
