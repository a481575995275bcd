import { afterEach, describe, expect, test } from "vitest"
import { CHANNEL, type OutboxStage, outboxStage, type StageOptions } from "../../../test/fixtures/outbox.ts"
import type { Channel } from "../../domain/channel.ts"

const SOON = { timeout: 60_000, interval: 20 }
let s: OutboxStage
const stage = async (options?: StageOptions) => {
  s = await outboxStage(options)
}
afterEach(() => s.close())

const allSaid = () => expect.poll(() => s.waiting(), SOON).toBe(0)
const byId = async (id: string) => (await s.store.topics.byId(id))!
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const said = (from: number, to: number) => range(from, to).map((seq) => `said #${seq}`)
/** A topic in which something was said already. */
async function talked() {
  const topic = await s.topic(await s.session("a"))
  await s.turn(topic, 0)
  s.start()
  await allSaid()
  return byId(topic.id)
}
const journal = async () =>
  (await s.store.journal.after(0, 1_000)).filter(({ kind }) => kind.startsWith("channel.")).map(({ kind }) => kind)

describe("a topic is made", () => {
  test("once, however many want it first", async () => {
    await stage()
    const session = await s.session("a")
    s.start()
    await Promise.all(range(1, 20).map(async (seq) => s.turn(await s.topic(session), seq)))
    await allSaid()
    expect(s.telegram.topics(s.group)).toHaveLength(1)
    expect(s.texts(s.telegram.topics(s.group)[0]!.id).toSorted()).toEqual(said(1, 20).toSorted())
  })

  test("with a name that is cut where the messenger cuts, and never through a character", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"), { name: `here • shop • ${"😀".repeat(100)}` })
    await s.turn(topic, 1)
    s.start()
    await allSaid()
    const { name } = s.telegram.topics(s.group)[0]!
    expect(name.length).toBeLessThanOrEqual(128)
    expect(name).toMatch(/^here • shop • (😀)+…$/u)
  })

  test("again after a crash in between: one orphan for each, and status lists it", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    await s.turn(topic, 1)
    for (const _ of range(1, 2)) {
      let isMade = false
      const makeTopic: Channel["makeTopic"] = async (chatId, name) => {
        await s.channel.makeTopic(chatId, name)
        isMade = true
        return new Promise(() => {})
      }
      s.start({ makeTopic })
      await expect.poll(() => isMade, SOON).toBe(true)
      s.kill()
    }
    const { outbox } = s.start()
    await allSaid()
    const { threadId, unconfirmed } = await byId(topic.id)
    expect([s.telegram.topics(s.group).length, unconfirmed]).toEqual([3, 2])
    expect(s.texts(threadId)).toEqual(["said #1"])
    expect((await outbox.status()).orphans).toEqual([
      { id: topic.id, chatId: s.chatId, name: topic.name, unconfirmed: 2 },
    ])
  })

  test("apart in two groups, also when both have the same number for it", async () => {
    await stage()
    const other = s.telegram.group("Home", { people: [s.ada] })
    const [one, two] = [
      await s.topic(await s.session("a")),
      await s.topic(await s.session("b"), { chatId: String(other.id) }),
    ]
    await s.turn(one, 1)
    await s.turn(two, 2)
    s.start()
    await allSaid()
    const threads = [(await byId(one.id)).threadId, (await byId(two.id)).threadId]
    expect(threads[0]).toBe(threads[1])
    expect(s.texts(threads[0])).toEqual(["said #1"])
    expect(s.telegram.read(other, threads[1]).map(({ text }) => text)).toContain("said #2")
  })
})

describe("fifty messages wait while", () => {
  test("the topic is closed: it is opened once, and all come in order", async () => {
    await stage()
    const topic = await talked()
    s.ada.closeTopic(s.group, topic.threadId!)
    for (const seq of range(1, 50)) await s.turn(topic, seq)
    await allSaid()
    expect(s.telegram.accepted("reopenForumTopic")).toHaveLength(1)
    expect(s.texts(topic.threadId)).toEqual(said(0, 50))
  })

  test.each(["message thread not found", "TOPIC_DELETED", "TOPIC_ID_INVALID"] as const)(
    "the topic is deleted (%s): it is recreated once, and all messages come in order",
    async (deletedTopic) => {
      await stage({ telegram: { limits: false, quirks: { deletedTopic } } })
      const topic = await talked()
      s.ada.deleteTopic(s.group, topic.threadId!)
      for (const seq of range(1, 50)) await s.turn(topic, seq)
      await allSaid()
      const now = await byId(topic.id)
      expect(s.telegram.accepted("createForumTopic")).toHaveLength(2)
      expect(s.texts(now.threadId)).toEqual(said(1, 50))
      const ledger = await s.store.topics.list({ channel: CHANNEL, states: ["gone"] })
      expect(ledger.map(({ threadId, sessionId }) => [threadId, sessionId])).toEqual([
        [topic.threadId, topic.sessionId],
      ])
    },
  )

  test("the group has its topics switched off: all come in order in the chat itself, with one notice", async () => {
    await stage()
    const topic = await talked()
    s.telegram.setForum(s.group, false)
    for (const seq of range(1, 50)) await s.turn(topic, seq)
    await allSaid()
    const label = `▸ ${topic.name}\n`
    expect(s.texts(null).filter((text) => text.startsWith(label))).toEqual(said(1, 50).map((text) => label + text))
    expect(s.texts(null)).toHaveLength(51)
    expect(await journal()).toEqual(["channel.trouble"])
    s.telegram.setForum(s.group, true)
    await s.turn(topic, 51)
    await s.turn(topic, 52)
    await allSaid()
    expect(await journal()).toEqual(["channel.trouble", "channel.fine"])
    expect(await s.store.holds.list("telegram")).toEqual([])
    expect(s.telegram.accepted("createForumTopic")).toHaveLength(1)
    expect(s.texts(topic.threadId)).toEqual(["said #0", `${label}said #51`, "said #52"])
  })

  test("the bot may not make topics: one notice, a call a minute, and then all in order; others go on", async () => {
    await stage()
    const old = await talked()
    s.telegram.setMember(s.group, s.telegram.bot(), "administrator", { can_manage_topics: false })
    const topic = await s.topic(await s.session("b"))
    for (const seq of range(1, 50)) await s.turn(topic, seq)
    await expect
      .poll(async () => (await s.store.holds.list("telegram")).map(({ kind }) => kind), SOON)
      .toEqual(["no_rights"])
    await s.turn(old, 99)
    await expect.poll(() => s.texts(old.threadId), SOON).toEqual(["said #0", "said #99"])
    const before = s.telegram.calls.length
    for (const _ of range(1, 5)) {
      s.pass(60_000)
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    expect(s.telegram.calls.length - before).toBeLessThanOrEqual(5)
    expect(await journal()).toEqual(["channel.trouble"])
    expect((await s.build().status()).holds).toMatchObject([{ kind: "no_rights" }])
    s.telegram.setMember(s.group, s.telegram.bot(), "administrator")
    s.pass(60_000)
    await allSaid()
    expect(s.texts((await byId(topic.id)).threadId)).toEqual(said(1, 50))
  })

  test.each([
    ["the bot is put out of the group", "no_chat"],
    ["the token is revoked", "unauthorised"],
  ])("%s: held over a restart, and then all in order", async (_, kind) => {
    await stage()
    const topic = await talked()
    if (kind === "no_chat") s.telegram.setMember(s.group, s.telegram.bot(), "kicked")
    else s.telegram.bot().isRevoked = true
    for (const seq of range(1, 50)) await s.turn(topic, seq)
    await expect.poll(async () => (await s.store.holds.list("telegram")).map((one) => one.kind), SOON).toEqual([kind])
    await s.stop()
    const before = s.telegram.calls.length
    s.start()
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(s.telegram.calls.length).toBe(before)
    s.pass(60_000)
    await expect.poll(() => s.telegram.calls.length, SOON).toBe(before + 1)
    const nextAtMs = async () => (await s.store.holds.list("telegram"))[0]!.nextAtMs
    await expect.poll(nextAtMs, SOON).toBeGreaterThan(s.clock.nowMs())
    expect(await journal()).toEqual(["channel.trouble"])
    if (kind === "no_chat") s.telegram.setMember(s.group, s.telegram.bot(), "administrator")
    else s.telegram.bot().isRevoked = false
    s.pass(60_000)
    await allSaid()
    expect(s.texts(topic.threadId)).toEqual(said(0, 50))
  })
})

describe("when a session ends", () => {
  test("its topic is closed and renamed, and both are taken back when it speaks again", async () => {
    await stage()
    const topic = await talked()
    await s.change(topic, { isArchived: true })
    await allSaid()
    expect(s.telegram.topics(s.group)).toMatchObject([{ name: `✓ ${topic.name}`, isClosed: true }])
    expect(await byId(topic.id)).toMatchObject({ state: "archived", name: topic.name })
    await s.turn(topic, 1)
    await allSaid()
    expect(s.telegram.topics(s.group)).toMatchObject([{ name: topic.name, isClosed: false }])
    expect(s.texts(topic.threadId)).toEqual(["said #0", "said #1"])
  })

  test("it takes another name, and is removed only where that is asked for; then a new one is made if it speaks", async () => {
    await stage()
    const topic = await talked()
    await s.change(topic, { name: "here • shop • other" })
    await allSaid()
    expect(s.telegram.topics(s.group).map(({ name }) => name)).toEqual(["here • shop • other"])
    expect(s.telegram.accepted("deleteForumTopic")).toHaveLength(0)
    await s.change(topic, { isRemoved: true })
    await allSaid()
    expect(s.telegram.topics(s.group)).toEqual([])
    expect(await byId(topic.id)).toMatchObject({ state: "gone" })
    await s.turn(topic, 1)
    await allSaid()
    expect(s.texts((await byId(topic.id)).threadId)).toEqual(["said #1"])
    expect(s.telegram.topics(s.group)).toHaveLength(1)
  })

  test("without the right to delete, the topic stays and nothing else waits for it", async () => {
    await stage()
    const topic = await talked()
    s.telegram.setMember(s.group, s.telegram.bot(), "administrator", { can_manage_topics: true })
    const key = await s.change(topic, { isRemoved: true })
    await s.turn(topic, 1)
    await allSaid()
    expect(await s.store.deliveries.byKey(key)).toMatchObject({ state: "failed" })
    expect(s.texts(topic.threadId)).toEqual(["said #0", "said #1"])
  })
})
