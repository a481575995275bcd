import type { MessageEntity } from "grammy/types"
import { afterEach, describe, expect, test } from "vitest"
import { chatOfUpdate, telegramChannel } from "../../../src/adapters/telegram/telegram.ts"
import type { Channel, Place } from "../../../src/domain/channel.ts"
import { plain, type TextMark } from "../../../src/domain/rich-text.ts"
import { OUTAGES, type Trouble } from "../../fixtures/telegram/faults.ts"
import { startTelegram } from "../../fixtures/telegram/start.ts"
import type { Telegram } from "../../fixtures/telegram/telegram.ts"
import { type ChannelStage, channelContract, gotten, troubleOf } from "../channel.ts"

async function stage(): Promise<ChannelStage> {
  const telegram = await startTelegram({ limits: false })
  const ada = telegram.person("Ada")
  const group = telegram.group("Work", { people: [ada] })
  const { token } = telegram
  const where = ({ threadId }: Place) => ({ thread: threadId ?? undefined })
  return {
    channel: telegramChannel({ token, apiRoot: `${telegram.apiRoot}/` }),
    botId: String(telegram.bot().user.id),
    chatId: String(group.id),
    person: {
      userId: String(ada.id),
      write: (place, text, replyTo) => ada.write(group, text, { ...where(place), replyTo }).id,
      writeAnonymously: (place, text) => void ada.anonymous.write(group, text, where(place)),
      edit: (_, messageId, text) => void ada.edit(group, messageId, text),
      attach: (place, name, bytes, caption) => void ada.sendDocument(group, bytes, { ...where(place), name, caption }),
      press: (_, messageId, label) => ada.press(group, messageId, label).answer,
      closeTopic: ({ threadId }) => ada.closeTopic(group, threadId),
      removeTopic: ({ threadId }) => ada.deleteTopic(group, threadId),
    },
    shown: ({ threadId }) =>
      telegram.read(group, threadId).map((seen) => ({
        messageId: seen.id,
        body: { text: seen.text, marks: seen.entities.flatMap(markOf) },
        buttons: seen.buttons.map((row) => row.map(({ label }) => label)),
        file: seen.file,
        isSilent: seen.isSilent,
        replyTo: seen.replyTo,
        isEdited: seen.edits > 0,
        marks: seen.reactions.map(({ emoji }) => emoji),
      })),
    topics: () => telegram.topics(group).map(({ id, name, isClosed }) => ({ threadId: id, name, isClosed })),
    take(what) {
      const less = { can_manage_topics: false, can_delete_messages: false }
      if (what === "topics") telegram.setForum(group, false)
      if (what === "rights") telegram.setMember(group, telegram.bot(), "administrator", less)
      if (what === "membership") telegram.setMember(group, telegram.bot(), "kicked")
      if (what === "token") telegram.bot().isRevoked = true
      if (what === "network") telegram.setDown(true)
    },
    loseAnswer: () => void telegram.faults.next("sendMessage", { kind: "drop-after" }),
    askToWait: (retryS) => void telegram.faults.next("sendMessage", { kind: "flood", retryS }),
    secret: token,
    close: () => telegram.close(),
  }
}

const KINDS = { bold: "bold", italic: "italic", strikethrough: "strike", code: "code", blockquote: "quote" } as const

function markOf(entity: MessageEntity): TextMark[] {
  const { offset, length, type } = entity
  if (type === "pre") return [{ kind: "pre", language: entity.language ?? "", offset, length }]
  if (type === "text_link") return [{ kind: "link", url: entity.url, offset, length }]
  if (type === "spoiler") return [{ kind: "spoiler", offset, length }]
  return type in KINDS ? [{ kind: KINDS[type as keyof typeof KINDS], offset, length }] : []
}

channelContract("Telegram", stage)

describe("Telegram", () => {
  let telegram: Telegram
  let channel: Channel
  const begin = async (options: Parameters<typeof startTelegram>[0] = {}) => {
    telegram = await startTelegram({ limits: false, ...options })
    channel = telegramChannel({ token: telegram.token, apiRoot: telegram.apiRoot })
    const ada = telegram.person("Ada")
    return { ada, group: telegram.group("Work", { people: [ada] }) }
  }
  afterEach(() => telegram?.close())
  const updates = async () =>
    gotten(await channel.poll({ offset: null, seconds: 1, signal: AbortSignal.timeout(60_000) }))
  const incoming = async () => (await updates()).map(({ raw }) => channel.read(raw)).filter((one) => one !== undefined)

  test("topics in the private chat: they are made there, and written to, once they are switched on", async () => {
    const { ada } = await begin({ bots: [{ username: "a_bot", topicsInPrivate: true }] })
    const room = ada.chatWith(telegram.bot())
    const chatId = String(room.id)
    ada.write(room, "/start")
    expect(await incoming()).toMatchObject([{ chatKind: "private", place: { chatId, threadId: null }, text: "/start" }])
    const may = { kind: "private", hasTopics: true, mayManageTopics: true }
    expect(gotten(await channel.look(chatId))).toMatchObject(may)
    expect(gotten(await channel.self()).hasPrivateTopics).toBe(true)
    const { threadId } = gotten(await channel.makeTopic(chatId, "shop"))
    gotten(await channel.send({ chatId, threadId }, { body: plain("here") }))
    expect(telegram.read(room, threadId).at(-1)!.text).toBe("here")
  })

  test("the general topic is written to without its number, which Telegram refuses", async () => {
    const { group } = await begin()
    gotten(await channel.send({ chatId: String(group.id), threadId: 1 }, { body: plain("to all") }))
    expect(telegram.read(group, null).at(-1)!.text).toBe("to all")
  })

  test("a group that became another one: both tell it, and a send says where to", async () => {
    const { ada } = await begin()
    const old = telegram.group("Small", { people: [ada], type: "group" })
    const next = telegram.migrate(old)
    const move = { kind: "move", place: { chatId: String(old.id), threadId: null }, toChatId: String(next.id) }
    expect(await incoming()).toMatchObject([move, move])
    const told = troubleOf(await channel.send({ chatId: String(old.id), threadId: null }, { body: plain("x") }))
    expect(told).toMatchObject({ kind: "no_chat", movedTo: String(next.id) })
  })

  test("what people do with topics is told: made, renamed, closed, reopened", async () => {
    const { ada, group } = await begin()
    const { id } = ada.createTopic(group, "mine")
    ada.renameTopic(group, id, "ours")
    ada.closeTopic(group, id)
    ada.reopenTopic(group, id)
    const place = { chatId: String(group.id), threadId: id }
    const changes = ["made", "renamed", "closed", "reopened"]
    expect(await incoming()).toMatchObject(changes.map((change) => ({ kind: "topic", place, change })))
  })

  test("of a photo the largest is taken; a voice message says how long it is", async () => {
    const { ada, group } = await begin()
    ada.sendPhoto(group, Buffer.alloc(9_000, 1), { caption: "see" })
    ada.sendVoice(group, Buffer.alloc(500, 2), { durationS: 7 })
    const [photo, voice] = await incoming()
    expect(photo).toMatchObject({ text: "see", files: [{ kind: "photo", name: null, mime: "image/jpeg" }] })
    expect(voice).toMatchObject({ text: "", files: [{ kind: "voice", mime: "audio/ogg", seconds: 7, bytes: 500 }] })
    if (photo?.kind !== "message") throw new Error("no photo")
    expect(gotten(await channel.fetchFile(photo.files[0]!.fileId)).bytes).toHaveLength(9_000)
  })

  test("a file that is bigger than was said is not taken in whole", async () => {
    const { ada, group } = await begin()
    ada.sendDocument(group, Buffer.alloc(channel.can.maxFetchBytes + 1), { size: 10 })
    ada.sendDocument(group, Buffer.alloc(10), { size: channel.can.maxFetchBytes + 1 })
    for (const message of await incoming()) {
      if (message.kind !== "message") throw new Error("no file")
      expect(troubleOf(await channel.fetchFile(message.files[0]!.fileId))).toMatchObject({ kind: "refused" })
    }
  })

  test("a group that can be seen and that the bot is not in is no chat of its", async () => {
    const { group } = await begin()
    telegram.faults.next("getChatMember", { kind: "error", code: 400, description: "Bad Request: member not found" })
    expect(troubleOf(await channel.look(String(group.id))).kind).toBe("no_chat")
    group.members.set(telegram.bot().user.id, { ...group.members.get(telegram.bot().user.id)!, status: "left" })
    expect(troubleOf(await channel.look(String(group.id))).kind).toBe("no_chat")
  })

  test("that the bot was taken into a group is no message, and says which group", async () => {
    const { group } = await begin()
    await updates()
    telegram.setMember(group, telegram.bot(), "administrator")
    const [update] = await updates()
    expect(channel.read(update!.raw)).toBeUndefined()
    expect(chatOfUpdate(update!.raw)).toMatchObject({ chatId: String(group.id), kind: "group" })
  })

  const message = { message_id: 9, date: 1_700_000_000, chat: { id: -100, type: "supergroup", title: "Work" } }
  const ada = { id: 7, is_bot: false, first_name: "Ada", last_name: "L" }
  const read = (content: object) => {
    const one = telegramChannel({ token: "42:abcdefghijklmnopqrstuvwxyz", apiRoot: "http://127.0.0.1:9" })
    return one.read({ update_id: 1, message: { ...message, from: ada, ...content } })
  }

  test("who it is from: a name, a bot, a channel that speaks, Telegram's account for admins without a name", () => {
    const text = "x"
    const channelPost = { id: -200, type: "channel", title: "News" }
    expect(read({ text })).toMatchObject({
      from: { userId: "7", name: "Ada L", isBot: false },
      atMs: 1_700_000_000_000,
    })
    expect(read({ text, from: { ...ada, is_bot: true } })).toMatchObject({ from: { userId: "7", isBot: true } })
    expect(read({ text, sender_chat: channelPost })).toMatchObject({ from: { userId: null, name: "News" } })
    expect(read({ text, from: { ...ada, id: 1_087_968_824 } })).toMatchObject({ from: { userId: null } })
    expect(read({ text, from: undefined })).toMatchObject({ from: { userId: null } })
  })

  test("what it is: an album, what was quoted, a sticker; who came or was pinned is nothing", () => {
    const photo = [
      { file_id: "s", file_unique_id: "s", width: 90, height: 90 },
      { file_id: "l", file_unique_id: "l", width: 900, height: 900, file_size: 10 },
      { file_id: "m", file_unique_id: "m", width: 300, height: 300 },
    ]
    expect(read({ photo, media_group_id: "77" })).toMatchObject({ albumId: "77", files: [{ fileId: "l", bytes: 10 }] })
    const reply_to_message = { ...message, message_id: 5, from: { ...ada, id: 42 }, text: "all of it" }
    const quoted = read({ text: "x", reply_to_message, quote: { text: "of it", position: 4 } })
    expect(quoted).toMatchObject({ replyTo: { messageId: 5, text: "of it", isOurs: true } })
    expect(read({ sticker: { file_id: "s", emoji: "🚀" } })).toMatchObject({
      otherKind: "sticker",
      text: "",
      files: [],
    })
    expect(read({ new_chat_members: [ada] })).toBeUndefined()
    expect(read({ pinned_message: message })).toBeUndefined()
  })

  test("a button press on a message that is too old to be shown has no topic; one without a message is nothing", () => {
    const one = telegramChannel({ token: "42:abcdefghijklmnopqrstuvwxyz", apiRoot: "http://127.0.0.1:9" })
    const query = { id: "5", from: ada, chat_instance: "1", data: "p:1:allow" }
    const old = { message_id: 9, date: 0, chat: message.chat }
    expect(one.read({ update_id: 1, callback_query: { ...query, message: old } })).toMatchObject({
      kind: "press",
      place: { chatId: "-100", threadId: null },
      messageId: 9,
    })
    expect(one.read({ update_id: 1, callback_query: query })).toBeUndefined()
  })

  test.each([
    [400, "Bad Request: TOPIC_CLOSED", "topic_closed"],
    [406, "Not Acceptable: TOPIC_CLOSED", "topic_closed"],
    [400, "Bad Request: message thread not found", "topic_gone"],
    [406, "TOPIC_DELETED", "topic_gone"],
    [400, "Bad Request: TOPIC_ID_INVALID", "topic_gone"],
    [400, "Bad Request: the chat is not a forum", "no_topics"],
    [400, "Bad Request: the chat is not a supergroup forum", "no_topics"],
    [400, "Bad Request: not enough rights to create a topic", "no_rights"],
    [400, "Bad Request: need administrator rights in the supergroup chat", "no_rights"],
    [400, "Bad Request: have no rights to send a message", "no_rights"],
    [400, "Bad Request: CHAT_ADMIN_REQUIRED", "no_rights"],
    [403, "Forbidden: CHAT_WRITE_FORBIDDEN", "no_rights"],
    [400, "Bad Request: chat not found", "no_chat"],
    [403, "Forbidden: bot was kicked from the supergroup chat", "no_chat"],
    [403, "Forbidden: bot is not a member of the supergroup chat", "no_chat"],
    [403, "Forbidden: bot was blocked by the user", "no_chat"],
    [403, "Forbidden: user is deactivated", "no_chat"],
    [400, "Bad Request: message to edit not found", "gone"],
    [400, "Bad Request: message to react not found", "gone"],
    [400, "Bad Request: MESSAGE_ID_INVALID", "gone"],
    [400, "Bad Request: message can't be edited", "gone"],
    [400, "Bad Request: query is too old and response timeout expired or query ID is invalid", "gone"],
    [400, "Bad Request: message is not modified: specified new message content is the same", "unchanged"],
    [400, "Bad Request: TOPIC_NOT_MODIFIED", "unchanged"],
    [400, "Bad Request: can't parse entities: unsupported", "refused"],
    [400, "Bad Request: message is too long", "refused"],
    [400, "Bad Request: REACTION_INVALID", "refused"],
    [401, "Unauthorized", "unauthorised"],
    [404, "Not Found", "unauthorised"],
    [409, "Conflict: terminated by other getUpdates request", "conflict"],
    [502, "Bad Gateway", "unclear"],
    [500, "Internal Server Error", "unclear"],
    // The server is closing, and has not begun with the call.
    [500, "Internal Server Error: restart", "away"],
  ])("%i %s is %s", async (code, description, kind) => {
    await begin()
    telegram.fault({ trouble: { kind: "error", code, description } })
    const at = { chatId: "1", threadId: null }
    expect(troubleOf(await channel.edit(at, 1, { body: plain("x") })).kind).toBe(kind)
    // What only asks changes nothing, and is asked again.
    expect(troubleOf(await channel.self()).kind).toBe(kind === "unclear" ? "away" : kind)
  })

  test("a page of a web server is no answer: the call may have been done; only that an upload is too large is for good", async () => {
    const { group } = await begin()
    const place = { chatId: String(group.id), threadId: null }
    const answered = async (trouble: Trouble) => {
      telegram.faults.next("sendMessage", trouble)
      return troubleOf(await channel.send(place, { body: plain("x") }))
    }
    for (const isDone of [true, false])
      expect(await answered({ ...OUTAGES.nginx, isDone })).toEqual({
        kind: "unclear",
        why: "a web page answered instead of Telegram (HTTP 502)",
      })
    expect(await answered({ kind: "page", code: 413 })).toMatchObject({ kind: "refused" })
    telegram.faults.next("getMe", OUTAGES.nginx)
    expect(troubleOf(await channel.self()).kind).toBe("away")
  })

  test("a message says in which topic it landed; where topics are switched off, in none", async () => {
    const { group } = await begin()
    const chatId = String(group.id)
    const { threadId } = gotten(await channel.makeTopic(chatId, "shop"))
    const send = async () => gotten(await channel.send({ chatId, threadId }, { body: plain("x") })).threadId
    expect(await send()).toBe(threadId)
    telegram.setForum(group, false)
    expect(await send()).toBeNull()
  })

  test("whose words they are: a person's own that they forward, another one's, somebody's who hides, a channel's", () => {
    const forward = (forward_origin: object) => read({ text: "x", forward_origin })
    expect(forward({ type: "user", sender_user: ada, date: 1 })).toMatchObject({ forwardedFrom: null })
    const bob = { id: 8, is_bot: false, first_name: "Bob" }
    expect(forward({ type: "user", sender_user: bob, date: 1 })).toMatchObject({ forwardedFrom: "Bob" })
    expect(forward({ type: "hidden_user", sender_user_name: "Ada L", date: 1 })).toMatchObject({
      forwardedFrom: "Ada L",
    })
    const news = { id: -200, type: "channel", title: "News" }
    expect(forward({ type: "channel", chat: news, message_id: 1, date: 1 })).toMatchObject({ forwardedFrom: "News" })
    expect(read({ text: "x" })).toMatchObject({ forwardedFrom: null, isFlat: true })
    expect(read({ text: "x", chat: { ...message.chat, is_forum: true } })).toMatchObject({ isFlat: false })
  })

  test("a connection that is cut while it is used is unclear; one that never came about is away", async () => {
    const { group } = await begin()
    const place = { chatId: String(group.id), threadId: null }
    telegram.setDown(true)
    expect(troubleOf(await channel.send(place, { body: plain("x") })).kind).toBe("unclear")
    // Nobody has that name; and what answers there does not speak TLS.
    for (const apiRoot of ["http://nowhere.invalid", telegram.apiRoot.replace("http:", "https:")]) {
      telegram.setDown(false)
      const other = telegramChannel({ token: telegram.token, apiRoot })
      const told = troubleOf(await other.send(place, { body: plain("x") }))
      expect([apiRoot, told]).toMatchObject([apiRoot, { kind: "away" }])
      expect(JSON.stringify(told)).not.toContain(telegram.token.split(":")[1])
    }
  })
})
