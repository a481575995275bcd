import { afterEach, describe, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions, testRendering } from "../../../test/fixtures/outbox.ts"
import { topicLane } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"

const SOON = { timeout: 60_000, interval: 20 }
let s: OutboxStage
const stage = async (options?: StageOptions) => {
  s = await outboxStage(options)
}
afterEach(() => s.close())

const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const threadOf = async (id: string) => (await s.store.topics.byId(id))!.threadId
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe("what is said in a topic", () => {
  test("comes in order, silent unless it pings, and only ids are kept of it", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    for (const seq of range(1, 4)) await s.turn(topic, seq, seq === 4)
    const note = { kind: "note", topicId: topic.id, body: plain("secret words"), isPing: true } as const
    const key = await s.enqueue(note, topicLane(topic))
    s.start()
    await allSaid()
    const thread = await threadOf(topic.id)
    expect(s.texts(thread)).toEqual(["said #1", "said #2", "said #3", "said #4", "secret words"])
    const seen = s.telegram.read(s.group, thread).filter(({ service }) => !service)
    expect(seen.map(({ isSilent }) => isSilent)).toEqual([true, true, true, false, false])
    const kept = await s.store.deliveries.byKey(key)
    expect(kept).toMatchObject({ state: "done" })
    expect(JSON.stringify(kept!.payload)).not.toContain("secret")
  })

  test("is silent where the topic is muted, the approval request too", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"), { isMuted: true })
    await s.turn(topic, 1, true)
    await s.approval(topic, "q-1")
    s.start()
    await allSaid()
    const seen = s.telegram.read(s.group, await threadOf(topic.id)).filter(({ service }) => !service)
    expect(seen.map(({ isSilent }) => isSilent)).toEqual([true, true])
  })

  test("that was forgotten meanwhile is not said", async () => {
    await stage({
      rendering: {
        parts: async (out) => (out.kind === "turn" && out.seq === 2 ? undefined : testRendering.parts(out)),
      },
    })
    const topic = await s.topic(await s.session("a"))
    for (const seq of range(1, 3)) await s.turn(topic, seq)
    s.start()
    await allSaid()
    expect(s.texts(await threadOf(topic.id))).toEqual(["said #1", "said #3"])
  })

  test("of a session that was forgotten is not said, and no word of it is kept", async () => {
    await stage()
    const session = await s.session("a")
    const topic = await s.topic(session)
    const note = { kind: "note", topicId: topic.id, body: plain("secret words"), isPing: true } as const
    const key = await s.enqueue(note, topicLane(topic))
    await s.store.forgetting.session(session, s.clock.nowMs())
    s.start()
    await allSaid()
    const kept = await s.store.deliveries.byKey(key)
    expect([kept!.state, JSON.stringify(kept!.payload).includes("secret")]).toEqual(["cancelled", false])
    expect(s.telegram.calls).toEqual([])
  })

  test("of another data directory is left to its daemon", async () => {
    await stage()
    const ours = await s.topic(await s.session("a"))
    const theirs = await s.topic(await s.session("b"), { home: "elsewhere" })
    await s.turn(theirs, 1)
    await s.turn(ours, 2)
    s.start()
    await expect.poll(() => s.waiting(), SOON).toBe(1)
    expect(s.telegram.topics(s.group)).toHaveLength(1)
    s.start({}, "elsewhere")
    await expect.poll(() => s.waiting(), { ...SOON, timeout: 60_000 }).toBe(0)
    expect(s.texts(await threadOf(theirs.id))).toEqual(["said #1"])
  })

  test("is refused with its marks, said without them, and as a file where that is refused too", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    s.telegram.faults.next(
      "sendMessage",
      { kind: "error", code: 400, description: "Bad Request: can't parse entities" },
      1,
    )
    await s.turn(topic, 1)
    s.start()
    await allSaid()
    s.telegram.faults.next(
      "sendMessage",
      { kind: "error", code: 400, description: "Bad Request: can't parse entities" },
      2,
    )
    await s.turn(topic, 2)
    await allSaid()
    expect(s.texts(await threadOf(topic.id))).toEqual(["said #1", "[message.md] \nsaid #2"])
    expect(s.troubles.filter((one) => one.includes("was refused"))).toHaveLength(3)
  })
})

describe("approval requests", () => {
  test("are remembered, so that they say later what became of them, and their buttons go", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    await s.approval(topic, "q-1")
    s.start()
    await allSaid()
    const thread = await threadOf(topic.id)
    const [approval] = s.telegram.read(s.group, thread).filter(({ buttons }) => buttons.length > 0)
    expect(await s.store.approvalRequests.get("q-1", "telegram", s.chatId)).toMatchObject({
      threadId: thread,
      messageId: approval!.id,
    })
    await s.decided(topic, "q-1")
    await allSaid()
    expect(s.telegram.read(s.group, thread).find(({ id }) => id === approval!.id)).toMatchObject({
      text: "decided q-1",
      buttons: [],
    })
  })

  test("come before what was said, and one that was never shown is not spoken of", async () => {
    await stage({ can: { sendGapMs: 150 } })
    const topic = await s.topic(await s.session("a"))
    for (const seq of range(1, 5)) await s.turn(topic, seq)
    await s.approval(topic, "q-1")
    await s.decided(topic, "q-2")
    s.start()
    await allSaid()
    expect(s.texts(await threadOf(topic.id))[0]).toBe("asks q-1")
  })
})

describe("receipts and answers", () => {
  test("a receipt is one mark, the newest; a failure is also said in words", async () => {
    await stage()
    const { id: thread } = s.ada.createTopic(s.group, "by hand")
    const { id: first } = s.ada.write(s.group, "one", { thread })
    const { id: second } = s.ada.write(s.group, "two", { thread })
    await s.receipt(first, thread, "queued")
    await s.receipt(first, thread, "done")
    await s.receipt(second, thread, "failed", "the agent has gone")
    s.start()
    await allSaid()
    const seen = (id: number) => s.telegram.read(s.group, thread).find((one) => one.id === id)!
    expect(seen(first).reactions.map(({ emoji }) => emoji)).toEqual(["👍"])
    expect(seen(second).reactions.map(({ emoji }) => emoji)).toEqual(["👎"])
    expect(s.telegram.accepted("setMessageReaction")).toHaveLength(2)
    const reply = s.telegram.read(s.group, thread).find(({ text }) => text === "the agent has gone")
    expect(reply?.replyTo).toBe(second)
  })

  test("answers do not wait behind what a topic says", async () => {
    await stage({ can: { sendGapMs: 100 } })
    const topic = await s.topic(await s.session("a"))
    for (const seq of range(1, 6)) await s.turn(topic, seq)
    await s.answer("three sessions")
    s.start()
    await expect.poll(() => s.texts(null), SOON).toEqual(["three sessions"])
    expect(s.texts(await threadOf(topic.id)).length).toBeLessThan(6)
  })
})
