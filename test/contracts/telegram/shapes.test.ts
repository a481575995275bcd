import { InlineKeyboard, InputFile } from "grammy"
import type {
  CallbackQuery,
  ChatFullInfo,
  ChatMemberAdministrator,
  ChatMemberMember,
  ChatMemberUpdated,
  File,
  Message,
  Update,
  User,
  UserFromGetMe,
  WebhookInfo,
} from "grammy/types"
import { expect, test } from "vitest"
import { methods } from "../../fixtures/telegram/methods/index.ts"
import { stage } from "../../fixtures/telegram/stage.ts"

// Each answer is compared whole with a value that grammY's types accept: no field too many, none missing.

const botUser = {
  id: 5_000_000_001,
  is_bot: true,
  first_name: "throughline_bot",
  username: "throughline_bot",
} satisfies User
const ada = { id: 700_000_001, is_bot: false, first_name: "Ada", username: "ada" } satisfies User
const chat = { id: -1_001_000_000_001, type: "supergroup", title: "Work", is_forum: true } as const
const text = expect.any(String) as unknown as string
const number = expect.any(Number) as unknown as number

test("every method is one of grammY's", async () => {
  await using it = await stage()
  expect(Object.keys(methods).filter((name) => typeof Reflect.get(it.bot, name) !== "function")).toEqual([])
  expect(Object.keys(methods).length).toBeGreaterThanOrEqual(26)
})

test("what a bot is told about itself", async () => {
  await using it = await stage()
  expect(await it.bot.getMe()).toEqual({
    ...botUser,
    is_bot: true,
    can_join_groups: true,
    can_read_all_group_messages: true,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: false,
    allows_users_to_create_topics: false,
    can_manage_bots: false,
    supports_join_request_queries: false,
  } satisfies UserFromGetMe)
  expect(await it.bot.getWebhookInfo()).toEqual({
    url: "",
    has_custom_certificate: false,
    pending_update_count: 0,
  } satisfies WebhookInfo)
})

test("chats and members", async () => {
  await using it = await stage()
  expect(await it.bot.getChat(it.chat)).toEqual({
    ...chat,
    accent_color_id: 0,
    max_reaction_count: 11,
    accepted_gift_types: {
      unlimited_gifts: false,
      limited_gifts: false,
      unique_gifts: false,
      premium_subscription: false,
      gifts_from_channels: false,
    },
    permissions: { can_send_messages: true },
  } satisfies ChatFullInfo.SupergroupChat)
  const admin = {
    status: "administrator",
    user: await it.bot.getMe(),
    can_be_edited: false,
    is_anonymous: false,
    can_manage_chat: true,
    can_delete_messages: true,
    can_manage_video_chats: false,
    can_restrict_members: false,
    can_promote_members: false,
    can_change_info: true,
    can_invite_users: true,
    can_post_stories: false,
    can_edit_stories: false,
    can_delete_stories: false,
    can_pin_messages: true,
    can_manage_topics: true,
    can_send_welcome_messages: false,
  } satisfies ChatMemberAdministrator
  expect(await it.bot.getChatMember(it.chat, botUser.id)).toEqual(admin)
  const eve = { status: "member", user: it.eve.user } satisfies ChatMemberMember
  expect(await it.bot.getChatMember(it.chat, it.eve.id)).toEqual(eve)
  it.telegram.setMember(it.group, it.telegram.bot(), "member")
  expect((await it.bot.getUpdates()).at(-1)?.my_chat_member).toEqual({
    chat,
    from: it.ada.user,
    date: number,
    old_chat_member: admin,
    new_chat_member: { status: "member", user: admin.user },
  } satisfies ChatMemberUpdated)
})

test("messages that a bot sends", async () => {
  await using it = await stage()
  const opened = {
    message_id: it.thread,
    date: number,
    chat,
    from: ada,
    message_thread_id: it.thread,
    is_topic_message: true,
    forum_topic_created: { name: "laptop • shop", icon_color: 0x6fb9f0 },
  } satisfies Message.ForumTopicCreatedMessage
  const place = {
    message_id: number,
    date: number,
    chat,
    from: botUser,
    message_thread_id: it.thread,
    is_topic_message: true as const,
    // No value has the type itself under exactOptionalPropertyTypes: it must have a field that is undefined, and must not.
    reply_to_message: opened as unknown as NonNullable<Message["reply_to_message"]>,
  }
  const where = { message_thread_id: it.thread }
  const keyboard = new InlineKeyboard().text("Allow", "allow:1")
  const sent = await it.bot.sendMessage(it.chat, "see *this*", {
    ...where,
    parse_mode: "MarkdownV2",
    reply_markup: keyboard,
  })
  const buttons = { inline_keyboard: [[{ text: "Allow", callback_data: "allow:1" }]] }
  const said = {
    ...place,
    text: "see this",
    entities: [{ type: "bold", offset: 4, length: 4 }],
    reply_markup: buttons,
  } satisfies Message.TextMessage
  expect(sent).toEqual(said)
  expect(await it.bot.editMessageText(it.chat, sent.message_id, "that", { reply_markup: keyboard })).toEqual({
    ...place,
    edit_date: number,
    text: "that",
    reply_markup: buttons,
  } satisfies Message.TextMessage)
  const file = { file_id: text, file_unique_id: text, file_size: 3 }
  const upload = () => new InputFile(Buffer.from("abc"), "a.txt")
  const document = await it.bot.sendDocument(it.chat, upload(), { ...where, caption: "it" })
  expect(document).toEqual({
    ...place,
    caption: "it",
    document: { ...file, file_name: "a.txt", mime_type: "application/octet-stream" },
  } satisfies Message.DocumentMessage)
  expect(await it.bot.sendPhoto(it.chat, upload(), where)).toEqual({
    ...place,
    photo: [
      { ...file, file_size: number, width: 90, height: 68 },
      { ...file, file_size: number, width: 320, height: 240 },
      { ...file, width: 1_280, height: 960 },
    ],
  } satisfies Message.PhotoMessage)
  expect(await it.bot.sendVoice(it.chat, upload(), { ...where, duration: 2 })).toEqual({
    ...place,
    voice: { ...file, duration: 2, mime_type: "application/octet-stream" },
  } satisfies Message.VoiceMessage)
  expect(await it.bot.getFile(document.document.file_id)).toEqual({
    ...file,
    file_path: "documents/file_1.txt",
  } satisfies File)
})

test("updates of what people do", async () => {
  await using it = await stage()
  const { message_id } = await it.bot.sendMessage(it.chat, "May I?", {
    reply_markup: new InlineKeyboard().text("Yes", "y"),
  })
  const first = it.ada.write(it.group, "/stop")
  it.ada.edit(it.group, first.id, "go on")
  it.ada.press(it.group, message_id, "Yes")
  it.ada.closeTopic(it.group, it.thread)
  const [written, edited, pressed, closed] = await it.bot.getUpdates()
  const said = { message_id: first.id, date: number, chat, from: ada }
  expect(written).toEqual({
    update_id: number,
    message: { ...said, text: "/stop", entities: [{ type: "bot_command", offset: 0, length: 5 }] },
  } satisfies Update)
  expect(edited).toEqual({
    update_id: number,
    edited_message: { ...said, edit_date: number, text: "go on" },
  } satisfies Update)
  expect(pressed?.callback_query).toEqual({
    id: text,
    from: it.ada.user,
    chat_instance: text,
    data: "y",
    message: {
      message_id,
      date: number,
      chat,
      from: botUser,
      text: "May I?",
      reply_markup: { inline_keyboard: [[{ text: "Yes", callback_data: "y" }]] },
    },
  } satisfies CallbackQuery)
  expect(closed?.message).toMatchObject({
    message_id: first.id + 1,
    message_thread_id: it.thread,
    is_topic_message: true,
    forum_topic_closed: {},
  } satisfies Partial<Message>)
})
