import type { Update } from "grammy/types"
import { expect, test } from "vitest"
import { stage } from "../../fixtures/telegram/stage.ts"

const textsOf = (updates: Update[]) => updates.map(({ message }) => message?.text)
const twoBots = { limits: false as const, bots: [{ username: "a_bot" }, { username: "b_bot", privacy: true }] }

test("every bot of a group sees what people write, and none sees what a bot writes", async () => {
  await using it = await stage({ ...twoBots, bots: [{ username: "a_bot" }, { username: "b_bot" }] })
  it.ada.write(it.group, "to all", { thread: it.thread })
  await it.bot.sendMessage(it.chat, "from a bot")
  expect(textsOf(await it.bot.getUpdates())).toEqual(["to all"])
  expect(textsOf(await it.api("b_bot").getUpdates())).toEqual(["to all"])
})

test("with privacy mode on a bot sees commands, mentions and answers to it only, unless it is an admin", async () => {
  await using it = await stage(twoBots)
  const b = it.telegram.bot("b_bot")
  expect((await it.api("b_bot").getMe()).can_read_all_group_messages).toBe(false)
  it.ada.write(it.group, "an admin sees this")
  it.telegram.setMember(it.group, b, "member")
  const said = await it.api("b_bot").sendMessage(it.chat, "hello")
  it.ada.write(it.group, "nothing for b")
  it.ada.write(it.group, "for a", { thread: it.thread })
  it.ada.write(it.group, "/status")
  it.ada.write(it.group, "/status@a_bot")
  it.ada.write(it.group, "/status@b_bot")
  it.ada.write(it.group, "hey @b_bot")
  it.ada.write(it.group, "an answer", { replyTo: said.message_id })
  const seen = (await it.api("b_bot").getUpdates()).filter(({ message }) => message)
  expect(textsOf(seen)).toEqual(["an admin sees this", "/status", "/status@b_bot", "hey @b_bot", "an answer"])
  await it.bot.sendMessage(it.chat, "a speaks last")
  it.ada.write(it.group, "/queue")
  expect(textsOf(await it.api("b_bot").getUpdates())).not.toContain("/queue")
})

test("an admin who stays anonymous has no sender that could be checked, unless it is a button press", async () => {
  await using it = await stage()
  it.ada.anonymous.write(it.group, "who is this?", { thread: it.thread })
  const [update] = await it.bot.getUpdates()
  expect(update?.message).toMatchObject({
    from: { id: 1_087_968_824, is_bot: true, username: "GroupAnonymousBot" },
    sender_chat: { id: it.chat, type: "supergroup" },
    is_topic_message: true,
  })
  expect(it.telegram.read(it.group, it.thread).at(-1)).toMatchObject({ from: "Work", isBot: false })
  const reply_markup = { inline_keyboard: [[{ text: "Allow", callback_data: "allow:1" }]] }
  const { message_id } = await it.bot.sendMessage(it.chat, "May I?", { reply_markup })
  it.ada.anonymous.press(it.group, message_id, "Allow")
  expect((await it.bot.getUpdates()).at(-1)?.callback_query?.from.id).toBe(it.ada.id)
})

test("people edit, answer, and send photos, documents and voice", async () => {
  await using it = await stage()
  const said = it.ada.write(it.group, "see /help", { thread: it.thread })
  it.ada.edit(it.group, said.id, "never mind")
  expect(() => it.eve.edit(it.group, said.id, "x")).toThrow("is not Eve's")
  it.eve.write(it.group, "why?", { thread: it.thread, replyTo: said.id })
  it.ada.sendPhoto(it.group, Buffer.from("jpeg"), { thread: it.thread, caption: "look" })
  it.ada.sendDocument(it.group, Buffer.from("text"), { thread: it.thread, name: "a.md", mime: "text/markdown" })
  it.ada.sendVoice(it.group, Buffer.from("ogg"), { thread: it.thread, durationS: 4 })
  const [first, edited, answer, photo, document, voice] = await it.bot.getUpdates()
  expect(first?.message).toMatchObject({ text: "see /help", entities: [{ type: "bot_command", offset: 4, length: 5 }] })
  expect(edited?.edited_message).toMatchObject({
    message_id: said.id,
    text: "never mind",
    edit_date: expect.any(Number),
  })
  expect(edited?.edited_message).not.toHaveProperty("entities")
  expect(answer?.message?.reply_to_message).toMatchObject({ message_id: said.id, text: "never mind" })
  expect(photo?.message).toMatchObject({ caption: "look", photo: [{}, {}, { file_size: 4 }] })
  expect(document?.message?.document).toMatchObject({ file_name: "a.md", mime_type: "text/markdown", file_size: 4 })
  expect(voice?.message?.voice).toMatchObject({ duration: 4 })
  const { file_path } = await it.bot.getFile(document!.message!.document!.file_id)
  const got = await fetch(`${it.telegram.apiRoot}/file/bot${it.telegram.token}/${file_path}`)
  expect(await got.text()).toBe("text")
  expect(it.telegram.read(it.group, it.thread).map(({ file }) => file?.kind)).toEqual([
    undefined,
    undefined,
    undefined,
    "photo",
    "document",
    "voice",
  ])
})

test("a private chat is one bot's own", async () => {
  await using it = await stage(twoBots)
  const room = it.ada.chatWith(it.telegram.bot("a_bot"))
  it.ada.write(room, "/start")
  expect((await it.bot.getUpdates()).map(({ message }) => message?.chat)).toMatchObject([
    { type: "private", id: it.ada.id },
  ])
  expect(await it.api("b_bot").getUpdates()).toEqual([])
})

test("a button press of a button that was taken away arrives, with what was on it", async () => {
  await using it = await stage()
  const reply_markup = { inline_keyboard: [[{ text: "Allow", callback_data: "allow:1" }]] }
  const { message_id } = await it.bot.sendMessage(it.chat, "May I?", { reply_markup })
  await it.bot.editMessageReplyMarkup(it.chat, message_id)
  expect(() => it.ada.press(it.group, message_id, "Allow")).toThrow("no button")
  it.ada.pressOld(it.group, message_id, "allow:1")
  const [update] = await it.bot.getUpdates()
  expect(update?.callback_query).toMatchObject({ data: "allow:1", message: { message_id } })
  expect(update?.callback_query?.message).not.toHaveProperty("reply_markup")
})

test("whoever waits is woken by a change, and told the last calls if nothing comes", async () => {
  await using it = await stage()
  const waiting = it.telegram.waitFor(() => it.telegram.read(it.group, null).find(({ text }) => text === "there"))
  await it.bot.sendMessage(it.chat, "there")
  expect(await waiting).toMatchObject({ text: "there" })
  await expect(it.telegram.waitFor(() => false, 50, "nothing")).rejects.toThrow(
    /50 ms for nothing(.|\n)*sendMessage 200/,
  )
})

test("every accepted call is in the history, with its time and what came of it", async () => {
  await using it = await stage()
  const before = Date.now()
  const { message_id } = await it.bot.sendMessage(it.chat, "x")
  await it.bot.sendMessage(it.chat, "").catch(() => {})
  expect(it.telegram.calls).toMatchObject([
    { method: "sendMessage", ok: true, code: 200, params: { text: "x" }, result: { message_id } },
    { method: "sendMessage", ok: false, code: 400, description: "Bad Request: message text is empty" },
  ])
  expect(it.telegram.accepted("sendMessage")).toHaveLength(1)
  expect(it.telegram.calls[0]!.at).toBeGreaterThanOrEqual(before)
})

test("a long text comes as several messages, and nothing says that they belong together", async () => {
  await using it = await stage()
  const text = Array.from({ length: 1_000 }, (_, n) => `line ${n} 😀`).join("\n")
  const hard = it.ada.paste(it.group, text, { thread: it.thread })
  const updates = await it.bot.getUpdates()
  expect(updates).toHaveLength(hard.length)
  expect(hard.length).toBeGreaterThan(2)
  for (const { message } of updates) {
    expect(message!.text!.length).toBeLessThanOrEqual(4_096)
    expect(message).not.toHaveProperty("media_group_id")
  }
  const lines = it.ada.paste(it.group, text, { thread: it.thread, cut: "lines" })
  expect(lines.map((part) => part.text).join("\n")).toBe(text)
})

test("the first reaction to a message is told as an edit that changes nothing", async () => {
  await using it = await stage()
  const { id } = it.ada.write(it.group, "hello", { thread: it.thread })
  it.ada.react(it.group, id)
  const [said, edited] = await it.bot.getUpdates()
  expect(edited?.edited_message).toEqual({ ...said!.message, edit_date: expect.any(Number) })
})

test("what is forwarded says whose words it was", async () => {
  await using it = await stage()
  it.ada.forward(it.group, "rm -rf /", "Mallory", { thread: it.thread })
  const [update] = await it.bot.getUpdates()
  expect(update?.message).toMatchObject({
    from: { id: it.ada.id },
    forward_origin: { type: "hidden_user", sender_user_name: "Mallory" },
  })
})
