import { afterEach, beforeEach, expect, test } from "vitest"
import { type OutboxStage, outboxStage, testRendering } from "../../../test/fixtures/outbox.ts"
import type { Channel } from "../../domain/channel.ts"
import { waitingLane } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Topic } from "../../domain/topic.ts"

const SOON = { timeout: 60_000, interval: 20 }
const ID = "m-0000000000000001"
const WORDS = "⏳ Not in tmux."

let s: OutboxStage
let topic: Topic
beforeEach(async () => {
  s = await outboxStage({
    rendering: {
      parts: async (out) =>
        out.kind === "waiting" || out.kind === "waited"
          ? [{ body: plain(out.kind === "waiting" ? WORDS : "Delivered."), isSilent: true }]
          : testRendering.parts(out),
    },
  })
  topic = await s.topic(await s.session("a"))
  await s.store.waitNotices.put({
    ...{ id: ID, channel: "telegram", sessionId: topic.sessionId!, topicId: topic.id, firstSeq: 1, lastSeq: 1 },
    ...{ words: "Not in tmux.", afterMs: 300, canResume: false, sinceMs: Date.now(), endedAtMs: null },
  })
  await enqueue("waiting")
})
afterEach(() => s.close())

async function enqueue(kind: "waiting" | "waited") {
  const payload = { kind, topicId: topic.id, noticeId: ID, ...(kind === "waiting" && { replyTo: 1 }) }
  const row = { key: `telegram:${kind}:${ID}`, lane: waitingLane(ID), channel: "telegram", payload }
  await s.store.deliveries.enqueue({ ...row, repeatable: kind === "waited", maxAttempts: 1_000 }, Date.now())
}
const kept = () => s.store.deliveries.byKey(`telegram:waiting:${ID}`)
const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const texts = async () => s.texts((await s.store.topics.byId(topic.id))!.threadId)

test("a notice is sent when its time has come, and edited where it was sent", async () => {
  const { sinceMs } = (await s.store.waitNotices.byId(ID))!
  let sentAtMs = 0
  const send: Channel["send"] = async (place, post) => {
    sentAtMs ||= Date.now()
    return s.channel.send(place, post)
  }
  s.start({ send })
  await allSaid()
  expect(await texts()).toEqual([WORDS])
  expect(sentAtMs - sinceMs).toBeGreaterThanOrEqual(300)
  expect((await s.store.waitNotices.byId(ID))!.messageId).toEqual(expect.any(Number))
  await enqueue("waited")
  await allSaid()
  expect(await texts()).toEqual(["Delivered."])
})

test("a daemon that died in the middle of sending it sends it no second time, and a later message gets its own", async () => {
  let isDead = false
  const send: Channel["send"] = async (place, post) => {
    await s.channel.send(place, post)
    isDead = true
    return new Promise(() => {})
  }
  s.start({ send })
  await expect.poll(() => isDead, SOON).toBe(true)
  s.kill()
  s.start()
  await allSaid()
  expect(await texts()).toEqual([WORDS])
  expect(await kept()).toMatchObject({ state: "uncertain" })
  expect(await s.store.waitNotices.byId(ID)).toMatchObject({ messageId: null, sinceMs: 0, endedAtMs: null })
})
