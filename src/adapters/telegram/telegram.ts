import { basename } from "node:path"
import type { InlineKeyboardMarkup, MessageEntity, ReactionTypeEmoji } from "grammy/types"
import { InputFile } from "grammy/web"
import type { Channel, ChannelButton, ChannelCan, ChannelPost, Place, ReceiptMark, Told } from "../../domain/channel.ts"
import { cutText, type RichText, type TextMark } from "../../domain/rich-text.ts"
import { telegramClient } from "./telegram-client.ts"
import { lookAt } from "./telegram-look.ts"
import { readUpdate } from "./telegram-read.ts"
import { ofReading, troubleOf } from "./telegram-trouble.ts"

export { chatOfUpdate } from "./telegram-read.ts"

const CALL_MS = 20_000
const UPLOAD_MS = 120_000
/** A poll without an answer so long after its timeout is lost. */
const POLL_GRACE_MS = 10_000
const MOST_UPDATES = 100
const MOST_NOTICE_UNITS = 200
/** The general topic: addressed without a thread id, and rejected with it. */
const GENERAL = 1

const CAN: ChannelCan = {
  maxTextUnits: 4096,
  maxCaptionUnits: 1024,
  maxTopicNameUnits: 128,
  maxFileBytes: 50_000_000,
  maxFetchBytes: 20_000_000,
  maxButtonBytes: 64,
  groupSendsPerMinute: 20,
  privateSendsPerMinute: 60,
  editsPerMinute: 30,
  topicCallsPerMinute: 20,
  sendGapMs: 1000,
}

/** From the list of reactions that a bot may set. */
const REACTIONS: Record<ReceiptMark, ReactionTypeEmoji["emoji"]> = { queued: "👀", submitted: "👍", failed: "👎" }

/** One Telegram bot. It retries nothing, and its texts never contain the token. */
export function telegramChannel({ token, apiRoot }: { token: string; apiRoot: string }): Channel {
  const { api, download, skewMs } = telegramClient({ token, apiRoot })
  const { raw } = api
  const botId = token.split(":")[0]!

  const attempt = async <T>(act: (signal: never) => Promise<T>, limitMs: number, signal?: AbortSignal) => {
    const timeout = AbortSignal.timeout(limitMs)
    try {
      const both = signal ? AbortSignal.any([signal, timeout]) : timeout
      // grammY has another type of signals, but only listens to it.
      return { ok: true, value: await act(both as never) } as const
    } catch (error) {
      if (signal?.aborted) return { ok: false, trouble: { kind: "away", why: "it was stopped" } } as const
      if (timeout.aborted)
        return { ok: false, trouble: { kind: "unclear", why: `no answer within ${limitMs / 1000} s` } } as const
      return { ok: false, trouble: troubleOf(error, token) } as const
    }
  }
  const doing = async (act: (signal: never) => Promise<unknown>, limitMs = CALL_MS): Promise<Told<void>> => {
    const told = await attempt(act, limitMs)
    return told.ok ? { ok: true, value: undefined } : told
  }
  const asking = async <T>(
    act: (signal: never) => Promise<T>,
    { signal, limitMs = CALL_MS }: { signal?: AbortSignal | undefined; limitMs?: number } = {},
  ): Promise<Told<T>> => {
    const told = await attempt(act, limitMs, signal)
    return told.ok ? told : { ok: false, trouble: ofReading(told.trouble) }
  }

  return {
    id: "telegram",
    can: CAN,
    self: (signal) =>
      asking(
        async (stop) => {
          const me = await raw.getMe(stop)
          const skew = skewMs()
          return {
            botId: String(me.id),
            name: me.first_name,
            username: me.username,
            hasPrivateTopics: me.has_topics_enabled === true,
            readsGroups: me.can_read_all_group_messages,
            ...(skew === undefined ? {} : { clockSkewMs: skew }),
          }
        },
        { signal },
      ),
    async look(chatId, signal) {
      const told = await asking((stop) => lookAt(raw, chatId, botId, stop), { signal })
      if (!told.ok) return told
      return told.value ? { ok: true, value: told.value } : refused("no_chat", "the bot is not a member of the chat")
    },
    async poll({ offset, seconds, signal }) {
      const polling = { timeout: seconds, limit: MOST_UPDATES, ...(offset === null ? {} : { offset }) }
      const told = await asking(
        (stop) =>
          raw.getUpdates(
            { ...polling, allowed_updates: ["message", "edited_message", "callback_query", "my_chat_member"] },
            stop,
          ),
        { signal, limitMs: seconds * 1000 + POLL_GRACE_MS },
      )
      if (!told.ok) return told
      return { ok: true, value: told.value.map((update) => ({ updateId: update.update_id, raw: update })) }
    },
    read: (update) => readUpdate(update, botId),
    async send(place, post) {
      const told = await (post.file ? attempt((stop) => sendFile(place, post, stop), UPLOAD_MS) : sendText(place, post))
      if (!told.ok) return told
      const { message_id: messageId, is_topic_message: isInTopic, message_thread_id: threadId } = told.value
      return { ok: true, value: { messageId, threadId: isInTopic ? (threadId ?? null) : null } }
    },
    edit: ({ chatId }, messageId, { body, buttons }) =>
      doing((stop) =>
        raw.editMessageText(
          {
            chat_id: chatId,
            message_id: messageId,
            text: body.text,
            entities: entitiesOf(body),
            link_preview_options: { is_disabled: true },
            ...keyboardOf(buttons),
          },
          stop,
        ),
      ),
    react: ({ chatId }, messageId, mark) =>
      doing((stop) => {
        const reaction = mark === null ? [] : [{ type: "emoji" as const, emoji: REACTIONS[mark] }]
        return raw.setMessageReaction({ chat_id: chatId, message_id: messageId, reaction }, stop)
      }),
    answerPress: (pressId, { text, isAlert }) =>
      doing((stop) => {
        const words = text === undefined ? {} : { text: cutText(text, MOST_NOTICE_UNITS), show_alert: isAlert === true }
        return raw.answerCallbackQuery({ callback_query_id: pressId, ...words }, stop)
      }),
    async makeTopic(chatId, name) {
      const told = await attempt((stop) => raw.createForumTopic({ chat_id: chatId, name }, stop), CALL_MS)
      return told.ok ? { ok: true, value: { threadId: told.value.message_thread_id } } : told
    },
    changeTopic: ({ chatId, threadId }, change) =>
      doing((stop) => {
        const topic = { chat_id: chatId, message_thread_id: threadId }
        if ("name" in change) return raw.editForumTopic({ ...topic, name: change.name }, stop)
        return change.isClosed ? raw.closeForumTopic(topic, stop) : raw.reopenForumTopic(topic, stop)
      }),
    removeTopic: ({ chatId, threadId }) =>
      doing((stop) => raw.deleteForumTopic({ chat_id: chatId, message_thread_id: threadId }, stop)),
    async fetchFile(fileId) {
      const found = await asking((stop) => raw.getFile({ file_id: fileId }, stop))
      if (!found.ok) return found
      const { file_path: path, file_size: size = 0 } = found.value
      if (path === undefined) return refused("gone", "Telegram has the file no longer")
      if (size > CAN.maxFetchBytes) return refused("refused", "the file is too big")
      const told = await asking((stop) => fetched(path, stop), { limitMs: UPLOAD_MS })
      if (!told.ok) return told
      if (typeof told.value === "number") return refused("gone", `Telegram answers ${told.value} for the file`)
      if (told.value === undefined) return refused("refused", "the file is too big")
      return { ok: true, value: { name: basename(path), bytes: told.value } }
    },
    offerCommands: (commands) =>
      doing((stop) =>
        raw.setMyCommands(
          { commands: commands.map(({ name, summary }) => ({ command: name, description: summary })) },
          stop,
        ),
      ),
  }

  function sendText(place: Place, { body, ...post }: ChannelPost) {
    const content = { text: body.text, entities: entitiesOf(body), link_preview_options: { is_disabled: true } }
    return attempt((stop) => raw.sendMessage({ ...content, ...aroundOf(place, post) }, stop), CALL_MS)
  }

  function sendFile(place: Place, { body, file, ...post }: ChannelPost, stop: never) {
    const words = body.text === "" ? {} : { caption: body.text, caption_entities: entitiesOf(body) }
    // grammY does not quote the name, which may have spaces.
    const document = new InputFile(file!.bytes, JSON.stringify(file!.name.replaceAll(/["\\\p{Cc}]/gu, "_")))
    return raw.sendDocument({ document, ...words, ...aroundOf(place, post) }, stop)
  }

  /** The file, or the HTTP status; undefined if it is larger than the limit, whatever its stated size. */
  async function fetched(path: string, stop: AbortSignal): Promise<Uint8Array | number | undefined> {
    const response = await download(path, stop)
    if (!response.ok) return response.status
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.length
      if (size > CAN.maxFetchBytes) return undefined
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }
}

/** Place and options of a message. */
const aroundOf = (
  { chatId, threadId }: Place,
  { buttons, isSilent, replyTo }: Pick<ChannelPost, "buttons" | "isSilent" | "replyTo">,
) => ({
  chat_id: chatId,
  ...(threadId === null || threadId === GENERAL ? {} : { message_thread_id: threadId }),
  ...(isSilent ? { disable_notification: true } : {}),
  // Send it even if that message was deleted meanwhile.
  ...(replyTo === undefined
    ? {}
    : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true as const } }),
  ...keyboardOf(buttons),
})

function keyboardOf(buttons: ChannelPost["buttons"]): { reply_markup?: InlineKeyboardMarkup } {
  if (!buttons || buttons.length === 0) return {}
  const row = (row: readonly ChannelButton[]) => row.map(({ label, data }) => ({ text: label, callback_data: data }))
  return { reply_markup: { inline_keyboard: buttons.map(row) } }
}

const KINDS = { bold: "bold", italic: "italic", strike: "strikethrough", code: "code", quote: "blockquote" } as const

function entitiesOf({ text, marks }: RichText): MessageEntity[] {
  return marks.flatMap((mark) => {
    const offset = Math.max(0, mark.offset)
    const length = Math.min(mark.offset + mark.length, text.length) - offset
    return length > 0 ? [entityOf(mark, { offset, length })] : []
  })
}

function entityOf(mark: TextMark, at: { offset: number; length: number }): MessageEntity {
  if (mark.kind === "pre") return { type: "pre", ...at, ...(mark.language ? { language: mark.language } : {}) }
  if (mark.kind === "link") return { type: "text_link", ...at, url: mark.url }
  if (mark.kind === "spoiler") return { type: "spoiler", ...at }
  return { type: KINDS[mark.kind], ...at }
}

const refused = (kind: "gone" | "refused" | "no_chat", why: string): Told<never> => ({
  ok: false,
  trouble: { kind, why },
})
