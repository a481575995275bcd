import { afterEach, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions, testRendering } from "../../../test/fixtures/outbox.ts"
import type { Channel } from "../../domain/channel.ts"
import { topicLane } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import { REPEAT_MARK } from "./words.ts"

const SOON = { timeout: 60_000, interval: 20 }
let s: OutboxStage
const stage = async (options?: StageOptions) => {
  s = await outboxStage(options)
}
afterEach(() => s.close())
const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const textsOf = async (id: string) => s.texts((await s.store.topics.byId(id))!.threadId)

/** The process ends after the messenger took the n-th message, or just before it is sent. */
async function dieAt(call: number, when: "before" | "after") {
  let count = 0
  let isDead = false
  const send: Channel["send"] = async (place, post) => {
    if (++count < call) return s.channel.send(place, post)
    if (when === "after") await s.channel.send(place, post)
    isDead = true
    return new Promise(() => {})
  }
  s.start({ send })
  await expect.poll(() => isDead, SOON).toBe(true)
  s.kill()
}
const threeParts = {
  parts: async (out: Parameters<typeof testRendering.parts>[0]) =>
    out.kind === "turn"
      ? ["a", "b", "c"].map((name) => ({ body: plain(`${out.seq}${name}`), isSilent: true }))
      : testRendering.parts(out),
}

test("after a crash only the part that was under way is said again, and it says so", async () => {
  await stage({ rendering: threeParts })
  const topic = await s.topic(await s.session("a"))
  await s.turn(topic, 1)
  await dieAt(2, "after")
  s.start()
  await allSaid()
  expect(await textsOf(topic.id)).toEqual(["1a", "1b", `${REPEAT_MARK}\n1b`, "1c"])
})

test("a part that did not leave is not lost", async () => {
  await stage({ rendering: threeParts })
  const topic = await s.topic(await s.session("a"))
  await s.turn(topic, 1)
  await dieAt(3, "before")
  s.start()
  await allSaid()
  expect(await textsOf(topic.id)).toEqual(["1a", "1b", `${REPEAT_MARK}\n1c`])
})

test("killed over it again and again, it is said again once for each time, and says so: nothing is lost", async () => {
  await stage({ rendering: threeParts })
  const topic = await s.topic(await s.session("a"))
  const key = await s.turn(topic, 1)
  await dieAt(1, "after")
  await dieAt(1, "after")
  s.start()
  await allSaid()
  const repeat = `${REPEAT_MARK}\n1a`
  expect(await textsOf(topic.id)).toEqual(["1a", repeat, repeat, "1b", "1c"])
  expect(await s.store.deliveries.byKey(key)).toMatchObject({ state: "done" })
})

test("answers that are lost again and again: it is said until one comes, each time saying so, and what follows waits", async () => {
  await stage({ rendering: threeParts })
  const topic = await s.topic(await s.session("a"))
  for (const _ of [1, 2, 3]) s.telegram.faults.next("sendMessage", { kind: "drop-after" })
  const key = await s.turn(topic, 1)
  const { outbox } = s.start()
  await expect
    .poll(async () => {
      s.pass(5_000)
      return s.waiting()
    }, SOON)
    .toBe(0)
  const repeat = `${REPEAT_MARK}\n1a`
  expect(await textsOf(topic.id)).toEqual(["1a", repeat, repeat, repeat, "1b", "1c"])
  expect(await s.store.deliveries.byKey(key)).toMatchObject({ state: "done" })
  expect((await outbox.status()).uncertain).toBe(0)
})

test("an answer that is lost on the way is unconfirmed like a crash", async () => {
  await stage()
  const topic = await s.topic(await s.session("a"))
  s.telegram.faults.next("sendMessage", { kind: "drop-after" })
  await s.turn(topic, 1)
  await s.turn(topic, 2)
  s.start()
  await allSaid()
  expect(await textsOf(topic.id)).toEqual(["said #1", `${REPEAT_MARK}\nsaid #1`, "said #2"])
})

test("the network is away for a while: nothing is lost or said twice", async () => {
  await stage()
  const topic = await s.topic(await s.session("a"))
  s.telegram.setDown(true)
  for (const seq of [1, 2, 3]) await s.turn(topic, seq)
  s.start()
  await new Promise((resolve) => setTimeout(resolve, 700))
  s.telegram.setDown(false)
  await allSaid()
  expect((await textsOf(topic.id)).map((text) => text.replace(`${REPEAT_MARK}\n`, ""))).toEqual([
    "said #1",
    "said #2",
    "said #3",
  ])
})

test("a progress message whose beginning may be a repeat says so as long as it grows", async () => {
  await stage()
  const topic = await s.topic(await s.session("a"))
  await s.line(topic, 1)
  await dieAt(1, "after")
  s.start()
  await allSaid()
  await s.line(topic, 2)
  await allSaid()
  expect(await textsOf(topic.id)).toEqual(["⚙ ran #1", `${REPEAT_MARK}\n⚙ ran #1\n⚙ ran #2`])
})

test("a full message that may be a repeat is a file that says so", async () => {
  const full = "x".repeat(4096)
  await stage({ rendering: { parts: async () => [{ body: plain(full), isSilent: true }] } })
  const topic = await s.topic(await s.session("a"))
  await s.turn(topic, 1)
  await dieAt(1, "after")
  s.start()
  await allSaid()
  expect(await textsOf(topic.id)).toEqual([full, `[message.md] ${REPEAT_MARK}\n${full}`])
})

test("coalesced messages are unconfirmed together, and none is sent alone later", async () => {
  await stage({ can: { groupSendsPerMinute: 6 } })
  const topic = await s.topic(await s.session("a"))
  for (const seq of [1, 2, 3, 4]) await s.turn(topic, seq)
  await dieAt(1, "after")
  await s.turn(topic, 5)
  s.pass(61_000)
  s.start()
  await allSaid()
  const all = "said #1\n\nsaid #2\n\nsaid #3\n\nsaid #4"
  expect(await textsOf(topic.id)).toEqual([all, `${REPEAT_MARK}\n${all}`, "said #5"])
})

test("what was forgotten while it was under way is not said again", async () => {
  await stage()
  const topic = await s.topic(await s.session("a"))
  const note = { kind: "note", topicId: topic.id, body: plain("secret words"), isPing: true } as const
  const key = await s.enqueue(note, topicLane(topic))
  await dieAt(1, "before")
  await s.store.deliveries.forget({ containing: "secret" }, s.clock.nowMs())
  s.start()
  await allSaid()
  expect(await textsOf(topic.id)).toEqual([])
  expect(JSON.stringify(await s.store.deliveries.byKey(key))).not.toContain("secret")
})
