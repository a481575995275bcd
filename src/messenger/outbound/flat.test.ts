import { afterEach, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions } from "../../../test/fixtures/outbox.ts"
import { chatLane } from "../../domain/outgoing.ts"

const SOON = { timeout: 60_000, interval: 20 }
let s: OutboxStage
const stage = async (options?: StageOptions) => {
  s = await outboxStage(options)
}
afterEach(() => s.close())
const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const byId = async (id: string) => (await s.store.topics.byId(id))!
const topicOf = async (name: string) => s.topic(await s.session(name), { name })
const holds = async () => (await s.store.holds.list("telegram")).map(({ kind }) => kind)
const NOTICE = /^⚠️ Topics are switched off in this chat/

test("topics are switched off: it is said once, and every message names its session, the first one too", async () => {
  await stage()
  const [shop, api] = [await topicOf("shop"), await topicOf("api")]
  await s.turn(shop, 0)
  await s.turn(api, 0)
  s.start()
  await allSaid()
  s.telegram.setForum(s.group, false)
  await s.turn(shop, 1)
  await allSaid()
  await s.turn(api, 2)
  await s.approval(api, "q-1")
  await s.turn(shop, 3)
  // Of a session that never had a topic.
  const late = await topicOf("late")
  await s.turn(late, 4)
  await s.line(late, 5)
  await s.line(late, 6)
  await allSaid()
  const all = s.texts(null)
  expect(all.filter((text) => NOTICE.test(text))).toHaveLength(1)
  const rest = all.filter((text) => !NOTICE.test(text) && !text.startsWith("▸ late"))
  expect(rest.toSorted()).toEqual(["▸ api\nasks q-1", "▸ api\nsaid #2", "▸ shop\nsaid #1", "▸ shop\nsaid #3"])
  const lates = all.filter((text) => text.startsWith("▸ late"))
  expect(lates).toEqual(["▸ late\nsaid #4", "▸ late\n⚙ ran #5\n⚙ ran #6"])
  expect(await holds()).toEqual(["no_topics"])
  // A reply to any of them finds its session.
  for (const { id, text } of s.telegram.read(s.group, null)) {
    const name = /^▸ (\w+)/.exec(text)?.[1]
    if (name) expect((await s.store.topics.byMessage("telegram", s.chatId, id))?.name).toBe(name)
  }
})

test("topics are switched on again: what is said next is in its topic, and new sessions get theirs", async () => {
  await stage()
  const shop = await topicOf("shop")
  await s.turn(shop, 0)
  s.start()
  await allSaid()
  s.telegram.setForum(s.group, false)
  await s.turn(shop, 1)
  await allSaid()
  s.telegram.setForum(s.group, true)
  await s.turn(shop, 2)
  await allSaid()
  expect(await holds()).toEqual([])
  await s.turn(shop, 3)
  const late = await topicOf("late")
  await s.turn(late, 4)
  await allSaid()
  expect(s.texts((await byId(shop.id)).threadId).slice(-1)).toEqual(["said #3"])
  expect(s.texts((await byId(late.id)).threadId)).toEqual(["said #4"])
})

test("a session that ends, and a topic that takes another name, hold nothing up where there are no topics", async () => {
  await stage()
  const shop = await topicOf("shop")
  await s.turn(shop, 0)
  const { outbox } = s.start()
  await allSaid()
  s.telegram.setForum(s.group, false)
  await s.turn(shop, 1)
  await s.change(shop, { isArchived: true })
  await s.turn(shop, 2)
  await allSaid()
  expect(s.texts(null)).toEqual(expect.arrayContaining(["▸ shop\nsaid #2"]))
  expect((await outbox.status()).failed).toBe(0)
})

test("in a flat chat no more calls are made than messages, but for one look a minute", async () => {
  await stage()
  const shop = await topicOf("shop")
  await s.turn(shop, 0)
  s.start()
  await allSaid()
  s.telegram.setForum(s.group, false)
  const late = await topicOf("late")
  await s.turn(late, 1)
  await allSaid()
  const made = () => s.telegram.calls.filter(({ method }) => method === "createForumTopic").length
  const before = made()
  for (let seq = 2; seq < 12; seq++) {
    await s.turn(late, seq)
    await allSaid()
  }
  expect(made() - before).toBeLessThanOrEqual(1)
  s.pass(61_000)
  await s.turn(late, 20)
  await allSaid()
  expect(made() - before).toBeLessThanOrEqual(2)
})

test("without the right to make topics an approval request is asked in the chat itself", async () => {
  await stage()
  s.telegram.setMember(s.group, s.telegram.bot(), "administrator", { can_manage_topics: false })
  const shop = await topicOf("shop")
  await s.turn(shop, 1)
  await s.approval(shop, "q-1")
  s.start()
  await expect.poll(() => s.texts(null), SOON).toEqual(["▸ shop\nasks q-1"])
  await expect.poll(() => s.waiting(), SOON).toBe(1)
  s.telegram.setMember(s.group, s.telegram.bot(), "administrator")
  s.pass(61_000)
  await allSaid()
  expect(s.texts((await byId(shop.id)).threadId)).toEqual(["said #1"])
})

test("an approval request for a chat that cannot be written to comes in private, with its buttons until it is decided", async () => {
  await stage()
  const shop = await topicOf("shop")
  await s.turn(shop, 0)
  s.start()
  await allSaid()
  const room = s.ada.chatWith(s.telegram.bot())
  const chatId = String(room.id)
  await s.store.people.put({ channel: "telegram", userId: chatId, name: "Ada", chatId, pairedAtMs: s.clock.nowMs() })
  s.telegram.setMember(s.group, s.telegram.bot(), "kicked")
  await s.approval(shop, "q-1")
  await expect.poll(() => s.telegram.read(room).length, SOON).toBe(1)
  expect(s.telegram.read(room)[0]).toMatchObject({ text: "asks q-1", isSilent: false, buttons: [[{ label: "Allow" }]] })
  await expect.poll(() => s.waiting(), SOON).toBe(1)
  await s.enqueue({ kind: "decided", chatId, threadId: null, permissionId: "q-1" }, chatLane(chatId))
  await expect.poll(() => s.telegram.read(room).map(({ text }) => text), SOON).toEqual(["decided q-1"])
  expect(s.telegram.read(room)[0]!.buttons).toEqual([])
  s.telegram.setMember(s.group, s.telegram.bot(), "administrator")
  s.pass(61_000)
  await allSaid()
  expect(s.texts((await byId(shop.id)).threadId)).toEqual(["said #0", "asks q-1"])
})
