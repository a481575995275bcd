import { InlineKeyboard, InputFile } from "grammy"
import type { BotCommand, ChatMember, Message } from "grammy/types"
import { describe, expect, test } from "vitest"
import { refusal, stage } from "../../fixtures/telegram/stage.ts"

const buttons = new InlineKeyboard().text("Allow", "allow:1").text("Deny", "deny:1").row().url("Docs", "https://x.org")

test("a message is what grammY says that it is", async () => {
  await using it = await stage()
  const sent = await it.bot.sendMessage(it.chat, "plain words", { disable_notification: true })
  const expected = {
    message_id: it.thread + 1,
    date: sent.date,
    chat: { id: it.chat, type: "supergroup", title: "Work", is_forum: true },
    from: { id: it.telegram.bot().user.id, is_bot: true, first_name: "throughline_bot", username: "throughline_bot" },
    text: "plain words",
  } satisfies Message.TextMessage
  expect(sent).toEqual(expected)
  expect(Math.abs(sent.date - Date.now() / 1_000)).toBeLessThan(2)
  expect(it.telegram.read(it.group, null)).toMatchObject([{ text: "plain words", isSilent: true, isBot: true }])
})

describe("a text has 1 to 4096 UTF-16 units", () => {
  test.each([
    ["none", "", "message text is empty"],
    ["only white space", " \n ", "message text is empty"],
    ["one more than fit", "x".repeat(4_097), "message is too long"],
    ["one more in pairs", "😀".repeat(2_049), "message is too long"],
  ])("%s", async (_, text, why) => {
    await using it = await stage()
    expect(await refusal(it.bot.sendMessage(it.chat, text))).toEqual([400, why])
  })

  test("as many as fit, counted after the markup is gone", async () => {
    await using it = await stage()
    const sent = await it.bot.sendMessage(it.chat, `<b>${"x".repeat(4_094)}😀</b>`, { parse_mode: "HTML" })
    expect(sent.text).toHaveLength(4_096)
  })
})

test("an edit replaces text and buttons, and says so when nothing is different", async () => {
  await using it = await stage()
  const { message_id } = await it.bot.sendMessage(it.chat, "one", { reply_markup: buttons })
  expect(await refusal(it.bot.editMessageText(it.chat, message_id, "one", { reply_markup: buttons }))).toEqual([
    400,
    "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message",
  ])
  const edited = await it.bot.editMessageText(it.chat, message_id, "two")
  expect(edited).toMatchObject({ message_id, text: "two", edit_date: expect.any(Number) })
  expect(edited).not.toHaveProperty("reply_markup")
  await it.bot.editMessageReplyMarkup(it.chat, message_id, { reply_markup: new InlineKeyboard().text("Undo", "u") })
  const [seen] = it.telegram.read(it.group, null)
  expect(seen).toMatchObject({
    text: "two",
    edits: 2,
    earlier: ["one", "two"],
    buttons: [[{ label: "Undo", data: "u" }]],
  })
  expect(await refusal(it.bot.editMessageText(it.chat, 999, "x"))).toEqual([400, "message to edit not found"])
  expect((await refusal(it.bot.editMessageText(it.chat, message_id, "x".repeat(4_097))))[0]).toBe(400)
})

test("only one's own messages are edited; a deleted one is gone for all", async () => {
  await using it = await stage({ limits: false, bots: [{ username: "a_bot" }, { username: "b_bot" }] })
  const { message_id } = await it.bot.sendMessage(it.chat, "mine")
  expect(await refusal(it.api("b_bot").editMessageText(it.chat, message_id, "yours"))).toEqual([
    400,
    "message can't be edited",
  ])
  const hers = it.ada.write(it.group, "hers")
  expect(await refusal(it.bot.editMessageText(it.chat, hers.id, "x"))).toEqual([400, "message can't be edited"])
  await it.bot.deleteMessage(it.chat, message_id)
  expect(await refusal(it.bot.deleteMessage(it.chat, message_id))).toEqual([400, "message to delete not found"])
  expect(await refusal(it.bot.editMessageText(it.chat, message_id, "x"))).toEqual([400, "message to edit not found"])
})

test("without its right a bot deletes its own messages only, and those for two days", async () => {
  await using it = await stage()
  it.telegram.setMember(it.group, it.telegram.bot(), "member")
  const own = await it.bot.sendMessage(it.chat, "own")
  const old = await it.bot.sendMessage(it.chat, "old")
  const hers = it.ada.write(it.group, "hers")
  expect(await refusal(it.bot.deleteMessage(it.chat, hers.id))).toEqual([400, "message can't be deleted"])
  expect(await it.bot.deleteMessage(it.chat, own.message_id)).toBe(true)
  it.telegram.world.advance(49 * 3_600_000)
  expect(await refusal(it.bot.deleteMessage(it.chat, old.message_id))).toEqual([400, "message can't be deleted"])
})

test("an answer needs what it answers, unless it may do without", async () => {
  await using it = await stage()
  const hers = it.ada.write(it.group, "a question")
  const answer = await it.bot.sendMessage(it.chat, "an answer", { reply_parameters: { message_id: hers.id } })
  expect(answer.reply_to_message).toMatchObject({ message_id: hers.id, text: "a question" })
  const missing = { message_id: 999 }
  expect(await refusal(it.bot.sendMessage(it.chat, "x", { reply_parameters: missing }))).toEqual([
    400,
    "message to be replied not found",
  ])
  await it.bot.sendMessage(it.chat, "x", { reply_parameters: { ...missing, allow_sending_without_reply: true } })
})

test("a button's data has 1 to 64 bytes, not characters", async () => {
  await using it = await stage()
  const send = (data: string) =>
    it.bot.sendMessage(it.chat, "x", { reply_markup: new InlineKeyboard([[{ text: "b", callback_data: data }]]) })
  await send("x".repeat(64))
  for (const data of ["", "x".repeat(65), "é".repeat(33)])
    expect(await refusal(send(data))).toEqual([400, "BUTTON_DATA_INVALID"])
})

test("a button press goes to the bot below whose message it is, is answered once, and soon", async () => {
  await using it = await stage({ limits: false, bots: [{ username: "a_bot" }, { username: "b_bot" }] })
  const { message_id } = await it.bot.sendMessage(it.chat, "May I?", {
    message_thread_id: it.thread,
    reply_markup: buttons,
  })
  const press = it.eve.press(it.group, message_id, "Allow")
  expect(() => it.eve.press(it.group, message_id, "Nothing")).toThrow('no button "Nothing"')
  const [update] = await it.bot.getUpdates()
  expect(update?.callback_query).toMatchObject({
    id: press.id,
    from: { id: it.eve.id },
    data: "allow:1",
    message: { message_id, message_thread_id: it.thread, text: "May I?" },
  })
  expect(await it.api("b_bot").getUpdates()).toEqual([])
  expect((await refusal(it.bot.answerCallbackQuery(press.id, { text: "x".repeat(201) })))[0]).toBe(400)
  const tooOld = [400, "query is too old and response timeout expired or query ID is invalid"]
  expect(await refusal(it.api("b_bot").answerCallbackQuery(press.id))).toEqual(tooOld)
  expect(press.answer()).toBeUndefined()
  await it.bot.answerCallbackQuery(press.id, { text: "Not you", show_alert: true })
  expect(press.answer()).toEqual({ text: "Not you", isAlert: true })
  expect(await refusal(it.bot.answerCallbackQuery(press.id))).toEqual(tooOld)
  const late = it.ada.press(it.group, message_id, "deny:1")
  it.telegram.world.advance(61_000)
  expect(await refusal(it.bot.answerCallbackQuery(late.id))).toEqual(tooOld)
})

test("a reaction is one of those that there are, one at a time, and can be taken back", async () => {
  await using it = await stage()
  const { id } = it.ada.write(it.group, "do it")
  await it.bot.setMessageReaction(it.chat, id, [{ type: "emoji", emoji: "👀" }])
  await it.bot.setMessageReaction(it.chat, id, [{ type: "emoji", emoji: "👍" }])
  expect(it.telegram.read(it.group, null)[0]?.reactions).toEqual([{ emoji: "👍", by: it.telegram.bot().user.id }])
  const [ok, strange] = ["👍", "✅"].map((emoji) => ({ type: "emoji" as const, emoji: emoji as "👍" }))
  expect(await refusal(it.bot.setMessageReaction(it.chat, id, [strange!]))).toEqual([400, "REACTION_INVALID"])
  expect(await refusal(it.bot.setMessageReaction(it.chat, id, [ok!, ok!]))).toEqual([400, "REACTIONS_TOO_MANY"])
  expect(await refusal(it.bot.setMessageReaction(it.chat, 999, [ok!]))).toEqual([400, "message to react not found"])
  await it.bot.setMessageReaction(it.chat, id, [])
  expect(it.telegram.read(it.group, null)[0]?.reactions).toEqual([])
})

test("a pinned message is pinned, and needs the right", async () => {
  await using it = await stage()
  const { message_id } = await it.bot.sendMessage(it.chat, "pin me", { message_thread_id: it.thread })
  await it.bot.pinChatMessage(it.chat, message_id)
  expect(it.telegram.read(it.group, it.thread)).toMatchObject([
    { service: "forum_topic_created" },
    { text: "pin me", isPinned: true },
    { service: "pinned_message" },
  ])
  expect((await it.bot.getChat(it.chat)).pinned_message).toMatchObject({ message_id })
  it.telegram.setMember(it.group, it.telegram.bot(), "administrator", {})
  expect(await refusal(it.bot.pinChatMessage(it.chat, message_id))).toEqual([
    400,
    "not enough rights to manage pinned messages in the chat",
  ])
})

test("files go up, are found again by id, and come down by their path", async () => {
  await using it = await stage()
  const bytes = Buffer.from("line\n".repeat(1_000))
  const place = { message_thread_id: it.thread, caption: "<b>all</b> of it", parse_mode: "HTML" as const }
  const sent = await it.bot.sendDocument(it.chat, new InputFile(bytes, "out put.log"), place)
  expect(sent.document).toMatchObject({ file_name: "out put.log", file_size: 5_000 })
  expect(sent).toMatchObject({ caption: "all of it", caption_entities: [{ type: "bold", offset: 0, length: 3 }] })
  const { file_path } = await it.bot.getFile(sent.document.file_id)
  const at = `${it.telegram.apiRoot}/file/bot${it.telegram.token}/${file_path}`
  expect(Buffer.from(await (await fetch(at)).arrayBuffer()).equals(bytes)).toBe(true)
  expect((await fetch(`${at}x`)).status).toBe(404)
  const again = await it.bot.sendDocument(it.chat, sent.document.file_id)
  expect(again.document).toEqual(sent.document)
  const photo = await it.bot.sendPhoto(it.chat, new InputFile(Buffer.from("jpeg"), "x.jpg"))
  expect(photo.photo).toHaveLength(3)
  expect((await it.bot.getFile(photo.photo[0]!.file_id)).file_path).toMatch(/^photos\//)
  const voice = await it.bot.sendVoice(it.chat, new InputFile(Buffer.from("ogg"), "x.ogg"), { duration: 3 })
  expect(voice.voice).toMatchObject({ duration: 3, file_size: 3 })
  expect(await refusal(it.bot.sendDocument(it.chat, new InputFile(Buffer.alloc(0), "empty")))).toEqual([
    400,
    "file must be non-empty",
  ])
  expect((await refusal(it.bot.sendDocument(it.chat, "nonsense")))[0]).toBe(400)
  const long = { caption: "x".repeat(1_025) }
  expect(await refusal(it.bot.sendPhoto(it.chat, photo.photo[2]!.file_id, long))).toEqual([
    400,
    "message caption is too long",
  ])
})

test("a file of more than 20 MB does not come down, one of more than 50 MB does not go up", async () => {
  await using it = await stage()
  const large = it.ada.sendDocument(it.group, Buffer.from("x"), { name: "large.bin", size: 20 * 1024 * 1024 + 1 })
  const fits = it.ada.sendDocument(it.group, Buffer.from("x"), { name: "fits.bin", size: 20 * 1024 * 1024 })
  const ids = (await it.bot.getUpdates()).map(({ message }) => message!.document!.file_id)
  expect([large.file?.size, fits.file?.size]).toEqual([20_971_521, 20_971_520])
  expect(await refusal(it.bot.getFile(ids[0]!))).toEqual([400, "file is too big"])
  expect(await it.bot.getFile(ids[1]!)).toMatchObject({ file_size: 20_971_520 })
  const upload = new InputFile(Buffer.alloc(50 * 1024 * 1024 + 1), "huge.bin")
  expect(await refusal(it.bot.sendDocument(it.chat, upload))).toEqual([413, "Request Entity Too Large"])
})

test("chats, members and commands are told as they are", async () => {
  await using it = await stage()
  expect(await it.bot.getChat(it.chat)).toMatchObject({ id: it.chat, type: "supergroup", is_forum: true })
  expect(await refusal(it.bot.getChat(-1))).toEqual([400, "chat not found"])
  const me = it.telegram.bot().user.id
  expect(await it.bot.getChatMember(it.chat, me)).toMatchObject({
    status: "administrator",
    can_manage_topics: true,
    can_delete_messages: true,
  } satisfies Partial<ChatMember>)
  expect((await it.bot.getChatMember(it.chat, it.ada.id)).status).toBe("creator")
  expect((await it.bot.getChatMember(it.chat, it.telegram.person("Zoe").id)).status).toBe("left")
  const commands: BotCommand[] = [{ command: "status", description: "How it goes" }]
  await it.bot.setMyCommands(commands)
  await it.bot.setMyCommands([], { scope: { type: "all_private_chats" } })
  expect(await it.bot.getMyCommands()).toEqual(commands)
  expect(await it.bot.getMyCommands({ scope: { type: "all_private_chats" } })).toEqual([])
  expect(await refusal(it.bot.setMyCommands([{ command: "No", description: "x" }]))).toEqual([
    400,
    "BOT_COMMAND_INVALID",
  ])
  await it.bot.sendChatAction(it.chat, "typing", { message_thread_id: it.thread })
  expect(it.group.actions).toMatchObject([{ action: "typing", thread: it.thread }])
  it.telegram.setMember(it.group, it.telegram.bot(), "kicked")
  expect(await refusal(it.bot.sendMessage(it.chat, "x"))).toEqual([
    403,
    "Forbidden: bot was kicked from the supergroup chat",
  ])
})
