import { afterEach, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions } from "../../../test/fixtures/outbox.ts"
import type { Topic } from "../../domain/topic.ts"

const SOON = { timeout: 60_000, interval: 20 }
let s: OutboxStage
const stage = async (options?: StageOptions) => {
  s = await outboxStage(options)
}
afterEach(() => s.close())
const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const byId = async (id: string) => (await s.store.topics.byId(id))!
const topicOf = async (name: string, over: Partial<Topic> = {}) => s.topic(await s.session(name), { name, ...over })

test("a thread that sessions share has what all of them say, each under its name, and none gets a topic", async () => {
  await stage()
  const sharedThreadId = s.ada.createTopic(s.group, "Sentry").id
  const shared = { sharedThreadId, state: "open" } as const
  const [shop, api] = [await topicOf("shop", shared), await topicOf("api", shared)]
  await s.turn(shop, 0)
  await s.turn(api, 1)
  await s.approval(api, "q-1")
  s.start()
  await allSaid()
  const said = s.telegram
    .read(s.group, sharedThreadId)
    .flatMap(({ isBot, service, text }) => (isBot && !service ? [text] : []))
  expect(said.toSorted()).toEqual(["▸ api\nasks q-1", "▸ api\nsaid #1", "▸ shop\nsaid #0"])
  expect(s.telegram.topics(s.group)).toHaveLength(1)
  for (const { id, text } of s.telegram.read(s.group, sharedThreadId)) {
    const name = /^▸ (\w+)/.exec(text)?.[1]
    if (name) expect((await s.store.topics.byMessage("telegram", s.chatId, id))?.name).toBe(name)
  }
})

test("when that thread is gone, messages go to the chat itself, which is told once", async () => {
  await stage()
  const sharedThreadId = s.ada.createTopic(s.group, "Sentry").id
  const shop = await topicOf("shop", { sharedThreadId, state: "open" })
  await s.turn(shop, 0)
  s.start()
  await allSaid()
  s.ada.deleteTopic(s.group, sharedThreadId)
  await s.turn(shop, 1)
  await s.turn(shop, 2)
  await allSaid()
  const all = s.texts(null)
  expect(all.filter((text) => text.startsWith("⚠️ Thread"))).toHaveLength(1)
  expect(all.filter((text) => text.startsWith("▸ shop"))).toEqual(["▸ shop\nsaid #1", "▸ shop\nsaid #2"])
  expect(await byId(shop.id)).toMatchObject({ sharedThreadId, state: "open", threadId: null })
})

test("a session that moves while its topic is made is told in the other chat, and the topic that was made is known", async () => {
  await stage()
  const other = s.telegram.group("Other")
  const shop = await topicOf("shop")
  s.telegram.fault({ method: "createForumTopic", chatId: Number(s.chatId), trouble: { kind: "delay", ms: 1_500 } })
  await s.turn(shop, 0)
  s.start()
  await expect.poll(async () => (await byId(shop.id)).makingAtMs, SOON).not.toBeNull()
  await s.store.topics.relocate(await byId(shop.id), { chatId: String(other.id), sharedThreadId: null }, "left")
  await allSaid()
  const now = await byId(shop.id)
  expect(now).toMatchObject({ chatId: String(other.id), state: "open" })
  const said = s.telegram
    .read(other, now.threadId)
    .flatMap(({ isBot, service, text }) => (isBot && !service ? [text] : []))
  expect(said).toEqual(["said #0"])
  const [made] = s.telegram.topics(s.group)
  expect(await s.store.topics.byThread("telegram", s.chatId, made!.id)).toMatchObject({
    state: "left",
    sessionId: shop.sessionId,
  })
  expect(s.telegram.read(s.group, made!.id).filter(({ isBot, service }) => isBot && !service)).toEqual([])
})
