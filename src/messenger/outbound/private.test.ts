import { afterEach, beforeEach, expect, test } from "vitest"
import { type OutboxStage, outboxStage } from "../../../test/fixtures/outbox.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"

const SOON = { timeout: 60_000, interval: 20 }
let s: OutboxStage
let room: Room
beforeEach(async () => {
  s = await outboxStage({ telegram: { limits: false, bots: [{ username: "a_bot", topicsInPrivate: true }] } })
  room = s.ada.chatWith(s.telegram.bot())
})
afterEach(() => s.close())
const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const byId = async (id: string) => (await s.store.topics.byId(id))!
const topicOf = async (name: string) => s.topic(await s.session(name), { chatId: String(room.id), name })
const said = (thread: number | null) =>
  s.telegram
    .read(room, thread)
    .filter(({ service, isBot }) => isBot && !service)
    .map(({ text }) => text)
const names = () => s.telegram.topics(room).map(({ name }) => name)
const refusedCalls = () => s.telegram.calls.filter(({ ok }) => !ok).map(({ method }) => method)

test("a topic that its person deleted is recreated, and new sessions get theirs", async () => {
  const topic = await topicOf("shop")
  await s.turn(topic, 0)
  const { outbox } = s.start()
  await allSaid()
  s.ada.deleteTopic(room, (await byId(topic.id)).threadId!)
  for (const seq of [1, 2, 3]) await s.turn(topic, seq)
  await s.approval(topic, "q-1")
  const next = await topicOf("other")
  await s.turn(next, 9)
  await allSaid()
  expect(said((await byId(topic.id)).threadId).toSorted()).toEqual(["asks q-1", "said #1", "said #2", "said #3"])
  expect(said((await byId(next.id)).threadId)).toEqual(["said #9"])
  expect(names().toSorted()).toEqual(["other", "shop"])
  expect(await outbox.status()).toMatchObject({ failed: 0, holds: [] })
  expect(refusedCalls()).not.toContain("reopenForumTopic")
})

test("an ended session's topic is renamed and never closed; the mark goes when the session goes on", async () => {
  const topic = await topicOf("shop")
  await s.turn(topic, 0)
  const { outbox } = s.start()
  await allSaid()
  const key = await s.change(topic, { isArchived: true })
  await allSaid()
  expect(names()).toEqual(["✓ shop"])
  expect(await byId(topic.id)).toMatchObject({ state: "archived" })
  expect(await s.store.deliveries.byKey(key)).toMatchObject({ state: "done" })
  await s.turn(topic, 1)
  await allSaid()
  expect(names()).toEqual(["shop"])
  expect(said((await byId(topic.id)).threadId)).toEqual(["said #0", "said #1"])
  expect(refusedCalls()).toEqual([])
  expect(await outbox.status()).toMatchObject({ failed: 0, holds: [] })
})

test("a topic that was deleted after its session ended is recreated when the session continues", async () => {
  const topic = await topicOf("shop")
  await s.turn(topic, 0)
  s.start()
  await allSaid()
  await s.change(topic, { isArchived: true })
  await allSaid()
  s.ada.deleteTopic(room, (await byId(topic.id)).threadId!)
  await s.turn(topic, 1)
  await allSaid()
  expect(names()).toEqual(["shop"])
  expect(said((await byId(topic.id)).threadId)).toEqual(["said #1"])
})

test("a hold that an earlier version left, because it could not reopen a topic, ends with the first topic that is made", async () => {
  const bot = String(s.telegram.bot().user.id)
  const why = "Bad Request: the chat is not a supergroup forum"
  const key = `telegram:${bot}:${room.id}:topics`
  await s.store.holds.put({ key, kind: "no_rights", why, sinceMs: s.clock.nowMs(), nextAtMs: s.clock.nowMs() })
  const gone = await s.topic(await s.session("shop"), {
    chatId: String(room.id),
    name: "shop",
    threadId: 999,
    state: "closed",
  })
  await s.turn(gone, 1)
  s.start()
  await allSaid()
  expect(said((await byId(gone.id)).threadId)).toEqual(["said #1"])
  expect(await s.store.holds.list("telegram")).toEqual([])
})

test("a bot whose private topics were switched off says everything in the chat itself, under the session's name", async () => {
  const topic = await topicOf("shop")
  await s.turn(topic, 0)
  s.start()
  await allSaid()
  s.telegram.bot().user.has_topics_enabled = false
  room.isForum = false
  await s.turn(topic, 1)
  await s.approval(topic, "q-1")
  await allSaid()
  expect(
    said(null)
      .filter((text) => text.startsWith("▸ shop\n"))
      .toSorted(),
  ).toEqual(["▸ shop\nasks q-1", "▸ shop\nsaid #1"])
})
