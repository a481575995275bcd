import type { ForumTopic } from "grammy/types"
import { describe, expect, test } from "vitest"
import { refusal, stage } from "../../fixtures/telegram/stage.ts"

const kindsOf = (updates: { message?: object }[]) =>
  updates.map(({ message }) => Object.keys(message ?? {}).find((key) => key.startsWith("forum_topic_")))

test("a topic is the message that opened it, and every bot is told of what happens to it", async () => {
  await using it = await stage({ limits: false, bots: [{ username: "a_bot" }, { username: "b_bot" }] })
  const topic = await it.bot.createForumTopic(it.chat, "laptop • api", { icon_color: 0xffd67e })
  const expected = {
    message_thread_id: it.thread + 1,
    name: "laptop • api",
    icon_color: 0xffd67e,
  } satisfies ForumTopic
  expect(topic).toEqual(expected)
  const thread = topic.message_thread_id
  await it.bot.editForumTopic(it.chat, thread, { name: "done" })
  await it.bot.closeForumTopic(it.chat, thread)
  await it.bot.reopenForumTopic(it.chat, thread)
  const kinds = ["forum_topic_created", "forum_topic_edited", "forum_topic_closed", "forum_topic_reopened"]
  expect(kindsOf(await it.bot.getUpdates())).toEqual(kinds)
  expect(kindsOf(await it.api("b_bot").getUpdates())).toEqual(kinds)
  expect(it.telegram.topics(it.group).map(({ name }) => name)).toEqual(["laptop • shop", "done"])
  await it.bot.deleteForumTopic(it.chat, thread)
  expect(it.telegram.topics(it.group)).toHaveLength(1)
  expect(it.telegram.read(it.group, thread)).toEqual([])
})

test("names have 1 to 128 characters, icons one of six colours", async () => {
  await using it = await stage()
  expect(await refusal(it.bot.createForumTopic(it.chat, " "))).toEqual([400, "title must be non-empty"])
  expect((await refusal(it.bot.createForumTopic(it.chat, "x".repeat(129))))[0]).toBe(400)
  expect((await it.bot.createForumTopic(it.chat, "x".repeat(128))).name).toHaveLength(128)
  const color = 0x123456 as 0xffd67e
  expect(await refusal(it.bot.createForumTopic(it.chat, "x", { icon_color: color }))).toEqual([
    400,
    "TOPIC_ICON_COLOR_INVALID",
  ])
})

describe("a send to a topic is refused when it is", () => {
  const send = (it: Awaited<ReturnType<typeof stage>>, thread = it.thread) =>
    it.bot.sendMessage(it.chat, "x", { message_thread_id: thread })

  test("closed", async () => {
    await using it = await stage()
    it.ada.closeTopic(it.group, it.thread)
    expect(await refusal(send(it))).toEqual([400, "TOPIC_CLOSED"])
    await it.bot.reopenForumTopic(it.chat, it.thread)
    await send(it)
  })

  test("deleted, in whichever words; typing there is accepted all the same", async () => {
    await using it = await stage()
    it.ada.deleteTopic(it.group, it.thread)
    expect(await refusal(send(it))).toEqual([400, "message thread not found"])
    expect(await it.bot.sendChatAction(it.chat, "typing", { message_thread_id: it.thread })).toBe(true)
    it.telegram.world.quirks.deletedTopic = "TOPIC_DELETED"
    it.telegram.world.quirks.topicErrorCode = 406
    expect(await refusal(send(it))).toEqual([406, "TOPIC_DELETED"])
    it.telegram.world.quirks.deletedTopic = "TOPIC_ID_INVALID"
    expect(await refusal(send(it))).toEqual([406, "TOPIC_ID_INVALID"])
    expect(await refusal(it.bot.reopenForumTopic(it.chat, it.thread))).toEqual([406, "TOPIC_DELETED"])
  })

  test("none, or General by its number", async () => {
    await using it = await stage()
    expect(await refusal(send(it, 999))).toEqual([400, "message thread not found"])
    expect(await refusal(send(it, 1))).toEqual([400, "message thread not found"])
    expect(await refusal(it.bot.closeForumTopic(it.chat, 999))).toEqual([400, "TOPIC_ID_INVALID"])
  })
})

test("a group whose topics were switched off ignores the thread id: the message lands in the flat chat", async () => {
  await using it = await stage()
  const before = it.ada.write(it.group, "a question", { thread: it.thread })
  it.telegram.setForum(it.group, false)
  const sent = await it.bot.sendMessage(it.chat, "x", { message_thread_id: it.thread })
  expect(sent).not.toHaveProperty("is_topic_message")
  expect(sent).not.toHaveProperty("message_thread_id")
  const unknown = await it.bot.sendMessage(it.chat, "y", { message_thread_id: 999_999 })
  expect(unknown).not.toHaveProperty("is_topic_message")
  const answer = await it.bot.sendMessage(it.chat, "z", { reply_parameters: { message_id: before.id } })
  expect(answer).not.toHaveProperty("is_topic_message")
  expect(it.telegram.read(it.group, null).map(({ text }) => text)).toEqual(["x", "y", "z"])
  expect(await refusal(it.bot.createForumTopic(it.chat, "x"))).toEqual([400, "the chat is not a forum"])
  expect(await refusal(it.bot.closeForumTopic(it.chat, it.thread))).toEqual([400, "the chat is not a forum"])
})

test("what changes nothing is refused", async () => {
  await using it = await stage()
  expect(await refusal(it.bot.editForumTopic(it.chat, it.thread, { name: "laptop • shop" }))).toEqual([
    400,
    "TOPIC_NOT_MODIFIED",
  ])
  expect(await refusal(it.bot.reopenForumTopic(it.chat, it.thread))).toEqual([400, "TOPIC_NOT_MODIFIED"])
})

test("managing needs its right, except for one's own topics; deleting needs another", async () => {
  await using it = await stage()
  const own = await it.bot.createForumTopic(it.chat, "own")
  it.telegram.setMember(it.group, it.telegram.bot(), "administrator", { can_manage_topics: false })
  expect(await refusal(it.bot.createForumTopic(it.chat, "x"))).toEqual([400, "not enough rights to create a topic"])
  expect(await refusal(it.bot.closeForumTopic(it.chat, it.thread))).toEqual([
    400,
    "not enough rights to edit the topic",
  ])
  expect(await it.bot.closeForumTopic(it.chat, own.message_thread_id)).toBe(true)
  expect(await refusal(it.bot.deleteForumTopic(it.chat, it.thread))).toEqual([
    400,
    "not enough rights to delete the topic",
  ])
  it.telegram.setMember(it.group, it.telegram.bot(), "administrator", { can_delete_messages: true })
  expect(await it.bot.deleteForumTopic(it.chat, it.thread)).toBe(true)
  const changes = (await it.bot.getUpdates()).filter((update) => update.my_chat_member)
  expect(changes.map((update) => update.my_chat_member?.new_chat_member)).toMatchObject([
    { status: "administrator", can_manage_topics: false, can_delete_messages: false },
    { status: "administrator", can_delete_messages: true },
  ])
})

test("numbers of topics are unique in their chat only", async () => {
  await using it = await stage()
  const other = it.telegram.group("Other", { people: [it.ada] })
  const { id } = it.ada.createTopic(other, "elsewhere")
  expect(id).toBe(it.thread)
  await it.bot.sendMessage(other.id, "here", { message_thread_id: id })
  expect(it.telegram.read(other, id).map(({ text }) => text)).toEqual(["", "here"])
  expect(it.telegram.read(it.group, id).map(({ text }) => text)).toEqual([""])
})

test("only messages of topics say so: an answer in General carries a number too", async () => {
  await using it = await stage()
  const inTopic = it.ada.write(it.group, "in the topic", { thread: it.thread })
  const root = it.ada.write(it.group, "in General")
  const answer = it.ada.write(it.group, "an answer in General", { replyTo: root.id })
  it.ada.write(it.group, "and one to that", { replyTo: answer.id })
  const [a, b, c, d] = (await it.bot.getUpdates()).map((update) => update.message!)
  expect(a).toMatchObject({ message_id: inTopic.id, message_thread_id: it.thread, is_topic_message: true })
  expect(a!.reply_to_message).toMatchObject({ message_id: it.thread, forum_topic_created: { name: "laptop • shop" } })
  expect(b).not.toHaveProperty("message_thread_id")
  for (const message of [c!, d!]) {
    expect(message.message_thread_id).toBe(root.id)
    expect(message).not.toHaveProperty("is_topic_message")
  }
  expect(it.telegram.read(it.group, null)).toHaveLength(3)
})

test("a reply is in the topic of the message that it answers", async () => {
  await using it = await stage()
  const asked = it.ada.write(it.group, "a question", { thread: it.thread })
  await it.bot.sendMessage(it.chat, "an answer", { reply_parameters: { message_id: asked.id } })
  it.eve.write(it.group, "another", { replyTo: asked.id })
  expect(it.telegram.read(it.group, it.thread).map(({ text }) => text)).toEqual([
    "",
    "a question",
    "an answer",
    "another",
  ])
  it.ada.closeTopic(it.group, it.thread)
  const late = it.bot.sendMessage(it.chat, "late", { reply_parameters: { message_id: asked.id } })
  expect(await refusal(late)).toEqual([400, "TOPIC_CLOSED"])
})

test("a private chat has topics if the bot has them on", async () => {
  await using it = await stage({
    limits: false,
    bots: [{ username: "a_bot", topicsInPrivate: true }, { username: "b_bot" }],
  })
  expect((await it.bot.getMe()).has_topics_enabled).toBe(true)
  expect((await it.api("b_bot").getMe()).has_topics_enabled).toBe(false)
  expect(await refusal(it.bot.createForumTopic(it.ada.id, "x"))).toEqual([
    403,
    "Forbidden: bot can't initiate conversation with a user",
  ])
  const [room, other] = [it.ada.chatWith(it.telegram.bot("a_bot")), it.ada.chatWith(it.telegram.bot("b_bot"))]
  const { message_thread_id } = await it.bot.createForumTopic(it.ada.id, "in private")
  await it.bot.sendMessage(it.ada.id, "hello", { message_thread_id })
  it.ada.write(room, "back", { thread: message_thread_id })
  expect(it.telegram.read(room, message_thread_id).map(({ text }) => text)).toEqual(["", "hello", "back"])
  expect(it.telegram.read(other)).toEqual([])
  expect((await it.bot.getUpdates()).at(-1)?.message).toMatchObject({ is_topic_message: true, message_thread_id })
  expect((await it.bot.getUpdates()).at(-1)?.message).not.toHaveProperty("reply_to_message")
  expect(await it.api("b_bot").getUpdates()).toEqual([])
  expect(await refusal(it.api("b_bot").createForumTopic(it.ada.id, "x"))).toEqual([400, "the chat is not a forum"])
})

test("a topic of a private chat can be renamed and deleted, and never closed or reopened", async () => {
  await using it = await stage({ bots: [{ username: "a_bot", topicsInPrivate: true }] })
  const room = it.ada.chatWith(it.telegram.bot())
  const { message_thread_id: thread } = await it.bot.createForumTopic(room.id, "in private")
  const refused = [400, "the chat is not a supergroup forum"]
  expect(await refusal(it.bot.closeForumTopic(room.id, thread))).toEqual(refused)
  expect(await refusal(it.bot.reopenForumTopic(room.id, thread))).toEqual(refused)
  expect(await it.bot.editForumTopic(room.id, thread, { name: "other" })).toBe(true)
  it.ada.deleteTopic(room, thread)
  expect(await refusal(it.bot.sendMessage(room.id, "x", { message_thread_id: thread }))).toEqual([
    400,
    "message thread not found",
  ])
})

test("a group that becomes a supergroup says where it went", async () => {
  await using it = await stage()
  const small = it.telegram.group("Small", { type: "group", people: [it.ada] })
  await it.bot.sendMessage(small.id, "before")
  const large = it.telegram.migrate(small)
  const error = await it.bot.sendMessage(small.id, "after").catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ error_code: 400, parameters: { migrate_to_chat_id: large.id } })
  expect((await it.bot.getUpdates()).map(({ message }) => message)).toMatchObject([
    { chat: { id: small.id }, migrate_to_chat_id: large.id },
    { chat: { id: large.id }, migrate_from_chat_id: small.id },
  ])
  await it.bot.sendMessage(large.id, "after")
})
