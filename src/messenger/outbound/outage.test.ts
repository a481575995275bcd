import { afterEach, describe, expect, test } from "vitest"
import { type OutboxStage, outboxStage, type StageOptions } from "../../../test/fixtures/outbox.ts"
import { OUTAGES } from "../../../test/fixtures/telegram/faults.ts"
import type { Channel, ChannelTrouble } from "../../domain/channel.ts"
import { REPEAT_MARK } from "./words.ts"

const SOON = { timeout: 60_000, interval: 20 }
let s: OutboxStage
const stage = async (options?: StageOptions) => {
  s = await outboxStage(options)
}
afterEach(() => s.close())
/** Time passes meanwhile: an attempt that failed just before the end of an outage is tried again only after a pause. */
const allSaid = () =>
  expect
    .poll(async () => {
      const waiting = await s.waiting()
      if (waiting > 0) s.pass(5_000)
      return waiting
    }, SOON)
    .toBe(0)
const threadOf = async (id: string) => (await s.store.topics.byId(id))!.threadId
const textsOf = async (id: string) => s.texts(await threadOf(id))
const sends = () => s.telegram.calls.filter(({ method }) => method === "sendMessage").length
/** Time passes until it was tried so often. */
async function triedTimes(times: number) {
  await expect
    .poll(() => {
      if (sends() < times) s.pass(5_000)
      return sends()
    }, SOON)
    .toBeGreaterThanOrEqual(times)
}

describe.each(["badGateway", "nginx", "restart"] as const)(
  "an outage in which every call is answered by %s",
  (kind) => {
    test("loses neither a message nor an approval request, and leaves nothing given up", async () => {
      await stage()
      const topic = await s.topic(await s.session("a"))
      await s.turn(topic, 0)
      const { outbox } = s.start()
      await allSaid()
      const end = s.telegram.fault({ trouble: OUTAGES[kind] })
      const before = sends()
      for (const seq of [1, 2]) await s.turn(topic, seq)
      const approval = await s.approval(topic, "q-1")
      await triedTimes(before + 8)
      expect((await outbox.status()).failed).toBe(0)
      end()
      s.pass(120_000)
      await allSaid()
      // A restart has done nothing, so that what is said after it is no repeat.
      const isMarked = kind !== "restart"
      const all = await textsOf(topic.id)
      const bare = all.map((text) => text.replace(`${REPEAT_MARK}\n`, ""))
      expect(bare.toSorted()).toEqual(["asks q-1", "said #0", "said #1", "said #2"])
      expect(bare.indexOf("said #1")).toBeLessThan(bare.indexOf("said #2"))
      expect(all.includes(`${REPEAT_MARK}\nasks q-1`)).toBe(isMarked)
      expect(await s.store.deliveries.byKey(approval)).toMatchObject({ state: "done" })
      expect(await outbox.status()).toMatchObject({ failed: 0, uncertain: 0 })
    })
  },
)

test("calls that were done and answered by 502 are repeated until an answer comes, and each repeat says so", async () => {
  await stage()
  const topic = await s.topic(await s.session("a"))
  await s.turn(topic, 0)
  s.start()
  await allSaid()
  const end = s.telegram.fault({ method: "sendMessage", trouble: { ...OUTAGES.badGateway, isDone: true } })
  const before = sends()
  await s.approval(topic, "q-1")
  await triedTimes(before + 4)
  end()
  s.pass(120_000)
  await allSaid()
  const [, first, ...rest] = await textsOf(topic.id)
  expect(first).toBe("asks q-1")
  expect(rest.length).toBeGreaterThanOrEqual(3)
  expect(new Set(rest)).toEqual(new Set([`${REPEAT_MARK}\nasks q-1`]))
  // The newest has the buttons that are known.
  const last = s.telegram.read(s.group, await threadOf(topic.id)).at(-1)!
  expect(await s.store.approvalRequests.get("q-1", "telegram", s.chatId)).toMatchObject({ messageId: last.id })
})

test("a network that is away is asked less and less often, at most once a minute in the end", async () => {
  await stage()
  const topic = await s.topic(await s.session("a"))
  await s.turn(topic, 0)
  await s.start()
  await allSaid()
  s.telegram.fault({ trouble: OUTAGES.badGateway })
  const before = sends()
  await s.turn(topic, 1)
  for (let minute = 0; minute < 10; minute++) {
    const tried = sends()
    s.pass(60_000)
    await expect
      .poll(sends, { timeout: 1_500, interval: 20 })
      .toBeGreaterThan(tried)
      .catch(() => {})
  }
  expect(sends() - before).toBeGreaterThanOrEqual(5)
  expect(sends() - before).toBeLessThanOrEqual(11)
})

describe("what Telegram says can never be delivered", () => {
  const refusing = (isRefused: (text: string, hasButtons: boolean, hasFile: boolean) => boolean): Partial<Channel> => ({
    send: async (place, post) => {
      const trouble: ChannelTrouble = { kind: "refused", why: "Bad Request: REPLY_MARKUP_INVALID" }
      if (isRefused(post.body.text, (post.buttons ?? []).length > 0, post.file !== undefined))
        return { ok: false, trouble }
      return s.channel.send(place, post)
    },
  })

  test("a message that is refused in every form is told in its topic: what it was, why, and where to read it", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    const key = await s.turn(topic, 7)
    await s.turn(topic, 8)
    s.start(refusing((text, _, hasFile) => text.includes("said #7") || hasFile))
    await allSaid()
    const [note, next] = await textsOf(topic.id)
    expect(note).toMatch(/could not be shown here.*REPLY_MARKUP_INVALID.*throughline/s)
    expect(next).toBe("said #8")
    expect(await s.store.deliveries.byKey(key)).toMatchObject({ state: "failed" })
  })

  test("an approval request whose buttons are refused still asks, in words, and says where it is answered", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    const key = await s.approval(topic, "q-1")
    s.start(refusing((_, hasButtons) => hasButtons))
    await allSaid()
    const [note] = await textsOf(topic.id)
    expect(note).toMatch(/throughline (?:waiting|permissions)/)
    expect(await s.store.deliveries.byKey(key)).toMatchObject({ state: "failed" })
    expect(s.telegram.read(s.group, await threadOf(topic.id)).at(-1)).toMatchObject({ isSilent: false })
  })

  test("a chat that takes nothing at all is on hold: one message is given up, the others wait, and requests come in private", async () => {
    await stage()
    const topic = await s.topic(await s.session("a"))
    await s.turn(topic, 0)
    const room = s.ada.chatWith(s.telegram.bot())
    const chatId = String(room.id)
    await s.store.people.put({ channel: "telegram", userId: chatId, name: "Ada", chatId, pairedAtMs: s.clock.nowMs() })
    let isStrange = true
    s.start({
      send: async (place, post) =>
        isStrange && place.chatId === s.chatId
          ? { ok: false, trouble: { kind: "refused", why: "Bad Request: CHAT_SOMETHING_NEW" } }
          : s.channel.send(place, post),
    })
    for (const seq of [1, 2, 3]) await s.turn(topic, seq)
    await expect
      .poll(async () => (await s.store.holds.list("telegram")).map((hold) => hold.why), SOON)
      .toEqual(["Bad Request: CHAT_SOMETHING_NEW"])
    await s.approval(topic, "q-1")
    await expect.poll(() => s.telegram.read(room).some(({ text }) => text === "asks q-1"), SOON).toBe(true)
    isStrange = false
    s.pass(61_000)
    await allSaid()
    expect(await textsOf(topic.id)).toEqual(expect.arrayContaining(["asks q-1", "said #2", "said #3"]))
    expect((await s.build().status()).failed).toBeLessThanOrEqual(2)
  })
})
