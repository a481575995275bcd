import type { CallbackQuery, Message, PhotoSize, Update, User } from "grammy/types"
import type {
  ChannelUser,
  Incoming,
  IncomingFile,
  IncomingMessage,
  IncomingTopic,
  Place,
} from "../../domain/channel.ts"
import { richTextOf } from "./telegram-rich.ts"

/** An update as an event; undefined for irrelevant ones. */
export function readUpdate(raw: unknown, botId: string): Incoming | undefined {
  if (typeof raw !== "object" || raw === null) return undefined
  const { message, edited_message, callback_query } = raw as Update
  if (message) return moved(message) ?? topicChanged(message) ?? said(message, botId, false)
  if (edited_message) return said(edited_message, botId, true)
  return callback_query && pressed(callback_query)
}

/** The chat of an update, whatever it is: a message, or the bot was added. */
export function chatOfUpdate(
  raw: unknown,
): { chatId: string; kind: "group" | "private"; from: ChannelUser } | undefined {
  const { message, edited_message, callback_query, my_chat_member } = (raw ?? {}) as Update
  const found = message ?? edited_message ?? my_chat_member
  const chat = found?.chat ?? callback_query?.message?.chat
  if (!chat) return undefined
  return { chatId: String(chat.id), kind: kindOf(chat), from: userOf(found ?? { from: callback_query?.from }) }
}

function said(message: Message, botId: string, isEdit: boolean): IncomingMessage | undefined {
  const text = message.text ?? message.caption ?? richTextOf(message) ?? ""
  const files = filesOf(message)
  const otherKind = text === "" && files.length === 0 ? (OTHER_KINDS.find((kind) => kind in message) ?? null) : null
  // Service messages of the chat are ignored.
  if (text === "" && files.length === 0 && otherKind === null) return undefined
  return {
    kind: "message",
    ...baseOf(message),
    atMs: (isEdit ? (message.edit_date ?? message.date) : message.date) * 1000,
    messageId: message.message_id,
    isEdit,
    text,
    replyTo: replyOf(message, botId),
    files,
    albumId: message.media_group_id ?? null,
    otherKind,
    forwardedFrom: forwardedFrom(message),
    isFlat: message.chat.type !== "private" && !("is_forum" in message.chat && message.chat.is_forum === true),
  }
}

/** The author of a forwarded message, unless it is the sender. */
function forwardedFrom({ from, forward_origin: origin }: Message): string | null {
  if (!origin) return null
  if (origin.type === "hidden_user") return origin.sender_user_name
  if (origin.type !== "user") return (origin.type === "chat" ? origin.sender_chat : origin.chat).title ?? "a channel"
  return origin.sender_user.id === from?.id ? null : userOf({ from: origin.sender_user }).name
}

function pressed({ id, from, message, data }: CallbackQuery): Incoming | undefined {
  if (!message || data === undefined) return undefined
  const chat = message.chat
  // Of an inaccessible message, only the id is known.
  const threadId = message.date === 0 ? null : threadOf(message as Message)
  return {
    kind: "press",
    place: { chatId: String(chat.id), threadId },
    chatKind: kindOf(chat),
    from: userOf({ from }),
    // Button presses have no time.
    atMs: Date.now(),
    pressId: id,
    messageId: message.message_id,
    data,
  }
}

function topicChanged(message: Message): IncomingTopic | undefined {
  const change = message.forum_topic_created
    ? "made"
    : message.forum_topic_edited
      ? "renamed"
      : message.forum_topic_closed
        ? "closed"
        : message.forum_topic_reopened
          ? "reopened"
          : undefined
  return change && { kind: "topic", ...baseOf(message), change, name: message.forum_topic_edited?.name ?? null }
}

/** Both chats get an update: the old one with the new id, the new one with the old id. */
function moved(message: Message): Incoming | undefined {
  const { migrate_to_chat_id: to, migrate_from_chat_id: from } = message
  if (to === undefined && from === undefined) return undefined
  const place = { chatId: String(from ?? message.chat.id), threadId: null }
  return { kind: "move", ...baseOf(message), place, toChatId: String(to ?? message.chat.id) }
}

const baseOf = (message: Message) => ({
  place: { chatId: String(message.chat.id), threadId: threadOf(message) } satisfies Place,
  chatKind: kindOf(message.chat),
  from: userOf(message),
  atMs: message.date * 1000,
})

const kindOf = ({ type }: { type: string }): "group" | "private" => (type === "private" ? "private" : "group")

/** Replies outside of topics have a message's id as their thread id. */
const threadOf = (message: Message): number | null =>
  message.is_topic_message ? (message.message_thread_id ?? null) : null

/** The account of anonymous admins. */
const ANONYMOUS_ADMIN = 1_087_968_824

function userOf({ from, sender_chat }: { from?: User | undefined; sender_chat?: Message["sender_chat"] }): ChannelUser {
  if (sender_chat) return { userId: null, name: sender_chat.title ?? "a channel", isBot: false }
  if (!from || from.id === ANONYMOUS_ADMIN) return { userId: null, name: from?.first_name ?? "nobody", isBot: false }
  const name = [from.first_name, from.last_name].filter(Boolean).join(" ")
  return { userId: String(from.id), name: name || from.username || String(from.id), isBot: from.is_bot }
}

function replyOf(message: Message, botId: string): IncomingMessage["replyTo"] {
  const answered = message.reply_to_message
  // In a topic, messages that are no reply refer to the message that opened it.
  if (!answered || answered.forum_topic_created || answered.message_id === threadOf(message)) return null
  return {
    messageId: answered.message_id,
    text: message.quote?.text ?? answered.text ?? answered.caption ?? "",
    isOurs: String(answered.from?.id) === botId,
  }
}

function filesOf({ photo, document, voice, audio, video, video_note }: Message): IncomingFile[] {
  if (photo) return [fileOf("photo", largest(photo), { mime_type: "image/jpeg" })]
  if (document) return [fileOf("document", document, document)]
  if (voice) return [fileOf("voice", voice, voice)]
  if (audio) return [fileOf("audio", audio, audio)]
  if (video) return [fileOf("video", video, video)]
  if (video_note) return [fileOf("video", video_note, { mime_type: "video/mp4", duration: video_note.duration })]
  return []
}

const largest = (sizes: PhotoSize[]): PhotoSize =>
  sizes.reduce((best, size) => (size.width * size.height > best.width * best.height ? size : best))

const fileOf = (
  kind: IncomingFile["kind"],
  { file_id, file_size }: { file_id: string; file_size?: number },
  about: { file_name?: string; mime_type?: string; duration?: number },
): IncomingFile => ({
  kind,
  fileId: file_id,
  name: about.file_name ?? null,
  mime: about.mime_type ?? null,
  bytes: file_size ?? null,
  seconds: about.duration ?? null,
})

/** Messages without text or file. */
const OTHER_KINDS = [
  "sticker",
  "poll",
  "venue",
  "location",
  "contact",
  "dice",
  "story",
  "game",
  "checklist",
  "paid_media",
  "invoice",
  "giveaway",
]
