import { afterEach, beforeEach, expect, test } from "vitest"
import { type IntakeOptions, openIntake, type TestIntake } from "../../../test/fixtures/intake.ts"
import type { Person } from "../../../test/fixtures/telegram/person.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import type { Telegram } from "../../../test/fixtures/telegram/telegram.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"
import type { Delivery } from "../../domain/delivery.ts"
import type { ButtonHandler } from "../../domain/outgoing.ts"
import { because, type Reason } from "../../domain/reason.ts"
import { moveOn } from "../../lib/transitions.ts"
import { inChannel } from "./admit.ts"

let telegram: Telegram
let ada: Person
let eve: Person
let group: Room
let intake: TestIntake
beforeEach(async () => {
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  eve = telegram.person("Eve")
  group = telegram.group("Work", { people: [ada, eve] })
})
afterEach(async () => {
  await intake.dispose()
  await telegram.close()
})

const open = async (options: Partial<IntakeOptions> = {}) => {
  intake = await openIntake({ telegram, group, users: [String(ada.id)], ...options })
  intake.start()
  return intake
}
const texts = async () => (await intake.messages()).map(({ text }) => text)

test("what is written in a topic waits for its session, with where it came from, and no words of it stay behind", async () => {
  await open()
  const { session, thread } = await intake.session("shop")
  const { id } = ada.write(group, "run the tests", { thread })
  ada.write(group, "run the tests", { thread })
  await intake.settled()
  const [message, again] = await intake.messages()
  expect(message).toMatchObject({
    sessionId: session.id,
    text: "run the tests",
    sender: { kind: "owner", name: "Ada" },
    origin: { channel: "telegram", chatId: String(group.id), threadId: thread, messageId: id, userId: String(ada.id) },
  })
  expect(again!.text).toBe("run the tests")
  const [receipt] = await intake.shown()
  expect(receipt).toMatchObject({ kind: "receipt", messageId: id, state: "queued", why: null })
  const admitted = await intake.store.deliveries.ofChannel(inChannel("telegram"), ["done"])
  expect(JSON.stringify(admitted.map(({ payload }) => payload))).not.toContain("run the tests")
})

test("equal topic numbers of two groups are two topics, and what is nobody's topic is left alone", async () => {
  await open()
  await intake.session("shop")
  const stranger = telegram.group("Elsewhere", { people: [ada] })
  const { id: thread } = ada.createTopic(group, "by hand")
  const { id: elsewhere } = ada.createTopic(stranger, "theirs")
  ada.write(group, "for nobody", { thread })
  ada.write(stranger, "for nobody either", { thread: elsewhere })
  ada.write(stranger, "/status")
  await intake.settled()
  expect(await intake.messages()).toEqual([])
  expect(await intake.answers()).toEqual([])
})

test("whoever is not on the list is refused in words once an hour, and written down each time; so are the anonymous", async () => {
  await open()
  const { thread } = await intake.session("shop")
  for (const text of ["rm -rf /", "/stop", "please"]) eve.write(group, text, { thread })
  ada.anonymous.write(group, "from nobody", { thread })
  eve.write(eve.chatWith(telegram.bot()), "hello")
  await intake.settled()
  expect(await intake.messages()).toEqual([])
  const refused = (who: string, why: string) => `telegram:${who} channel.refused ${why}`
  expect((await intake.audit()).toSorted()).toEqual(
    // Once for each of them, with a count: a flood does not fill the audit.
    [refused(String(eve.id), "not on the list"), refused("anonymous", "anonymous")].toSorted(),
  )
  expect((await intake.answers()).map((text) => text.slice(0, 22)).toSorted()).toEqual([
    "I cannot tell who is w",
    "I only talk to people ",
    "I only talk to people ",
  ])
  const entries = JSON.stringify(await intake.store.audit.list({ limit: 10 }))
  expect(entries).not.toContain("rm -rf")
})

test("a button press counts only by somebody on the list, and always gets an answer", async () => {
  const pressed: unknown[] = []
  const press: ButtonHandler["press"] = async (rest, by, at) => {
    pressed.push({ rest, by, at })
    return { text: "Allowed" }
  }
  await open({ deps: { buttons: [{ beginning: "p", about: async () => undefined, press }] } })
  const { thread } = await intake.session("shop")
  const approval = await post(group.id, thread, [{ text: "Allow", callback_data: "p:q-1:allow" }])
  const byEve = eve.press(group, approval, "Allow")
  expect(await telegram.waitFor(() => byEve.answer())).toMatchObject({ isAlert: true })
  expect(pressed).toEqual([])
  const byAda = ada.press(group, approval, "Allow")
  expect(await telegram.waitFor(() => byAda.answer())).toEqual({ text: "Allowed", isAlert: false })
  const at = { chatId: String(group.id), threadId: thread, messageId: approval }
  expect(pressed).toEqual([{ rest: "q-1:allow", by: { userId: String(ada.id), name: "Ada" }, at }])
  expect(await intake.audit()).toEqual([`telegram:${eve.id} channel.refused not on the list`])
  const old = ada.pressOld(group, approval, "zz:1")
  expect(await telegram.waitFor(() => old.answer())).toMatchObject({ isAlert: true })
})

async function post(chat: number, thread: number, row: object[]): Promise<number> {
  const answer = await fetch(`${telegram.apiRoot}/bot${telegram.token}/sendMessage`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      chat_id: chat,
      message_thread_id: thread,
      text: "May it?",
      reply_markup: { inline_keyboard: [row] },
    }),
  })
  return ((await answer.json()) as { result: { message_id: number } }).result.message_id
}

test("a code from the terminal lets one person in, by command or bare, and only once", async () => {
  await open()
  const { thread } = await intake.session("shop")
  const { code } = await intake.pairing.issue()
  expect(code).toMatch(/^[A-Z2-9]{8}$/)
  eve.write(group, `/pair ${code.toLowerCase()}`)
  await intake.settled()
  expect((await intake.pairing.list()).map(({ userId, name, chatId }) => ({ userId, name, chatId }))).toEqual([
    { userId: String(eve.id), name: "Eve", chatId: null },
  ])
  const mallory = telegram.person("Mallory")
  mallory.write(mallory.chatWith(telegram.bot()), code)
  const { code: second } = await intake.pairing.issue()
  const bob = telegram.person("Bob")
  bob.write(bob.chatWith(telegram.bot()), ` ${second} `)
  eve.write(group, "now I may", { thread })
  eve.write(eve.chatWith(telegram.bot()), "/status")
  await intake.settled()
  expect(await texts()).toEqual(["now I may"])
  const people = await intake.pairing.list()
  expect(people.map(({ name, chatId }) => [name, chatId])).toEqual([
    ["Eve", String(eve.id)],
    ["Bob", String(bob.id)],
  ])
  expect((await intake.answers()).some((text) => text.startsWith("That code is not valid"))).toBe(true)
  expect(await intake.pairing.remove(String(eve.id))).toBe(true)
  eve.write(group, "and now not", { thread })
  await intake.settled()
  expect(await texts()).toEqual(["now I may"])
  const written = (await intake.store.audit.list({ limit: 20 })).map(({ what }) => what)
  expect(written.toSorted()).toEqual([
    "channel.code",
    "channel.code",
    "channel.paired",
    "channel.paired",
    "channel.refused",
    "channel.refused",
    "channel.unpaired",
  ])
})

test("codes cannot be guessed for long, nor be many, nor last", async () => {
  await open()
  const { code } = await intake.pairing.issue()
  await intake.pairing.issue()
  await intake.pairing.issue()
  await expect(intake.pairing.issue()).rejects.toThrow("3 codes wait already")
  const home = eve.chatWith(telegram.bot())
  for (let n = 0; n < 5; n++) eve.write(home, "/pair ABCDEFGH")
  eve.write(home, `/pair ${code}`)
  await intake.settled()
  expect(await intake.pairing.list()).toEqual([])
  expect((await intake.answers()).at(-1)).toContain("Try again in an hour")
  const store = intake.store
  const late = { nowMs: () => Date.now() + 11 * 60_000 }
  const { makePairing } = await import("./pairing.ts")
  const pairing = makePairing({ store, clock: late, channel: "telegram" })
  const person = { userId: "99", name: "Late", isBot: false }
  const place = { chatId: "99", threadId: null, chatKind: "private" as const }
  expect(await pairing.redeem(code, person, place)).toBe("wrong")
  expect((await pairing.issue()).code).toHaveLength(8)
})

test("an edit changes what waits; what the agent has is not changed, and that is said", async () => {
  await open()
  const { thread } = await intake.session("shop")
  const { id } = ada.write(group, "delete all", { thread })
  await intake.settled()
  ada.edit(group, id, "delete nothing")
  await intake.settled()
  const [message] = await intake.messages()
  expect(message!.text).toBe("delete nothing")
  const lease = { owner: "dispatcher", host: "here", leaseMs: 60_000, limit: 1, channels: ["agent"] }
  const [leased] = await intake.store.deliveries.lease(lease, Date.now())
  expect(leased!.payload.text).toBe("delete nothing")
  await intake.store.deliveries.startAttempt(leased!.seq, "dispatcher", Date.now())
  ada.edit(group, id, "delete something")
  await intake.settled()
  expect((await intake.messages())[0]!.text).toBe("delete nothing")
  expect((await intake.answers()).at(-1)).toContain("has that message already")
})

test("an answer to what the agent said last is handed on bare, an answer to something older with its head", async () => {
  await open()
  const { session, thread } = await intake.session("shop")
  const say = async (nativeId: string, text: string, atMs: number) =>
    intake.store.turns.put([{ ...TURN, sessionId: session.id, nativeId, text, atMs }])
  await say("1", "I chose the red one.", 1_000)
  await say("2", "All **tests** pass now.", 2_000)
  const old = await postText(thread, "I chose the red one.")
  const last = await postText(thread, "All tests pass now.")
  ada.write(group, "why?", { thread, replyTo: old })
  ada.write(group, "good", { thread, replyTo: last })
  await intake.settled()
  expect(await texts()).toEqual(["> I chose the red one.\n\nwhy?", "good"])
})

const TURN = {
  kind: "reply" as const,
  sourceId: null,
  toolName: null,
  toolCallId: null,
  isError: false,
  isFallback: false,
  model: null,
  usage: null,
}

async function postText(thread: number, text: string): Promise<number> {
  const answer = await fetch(`${telegram.apiRoot}/bot${telegram.token}/sendMessage`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chat_id: group.id, message_thread_id: thread, text }),
  })
  return ((await answer.json()) as { result: { message_id: number } }).result.message_id
}

test("topics of a private chat are sessions too, and what is outside of them is for commands", async () => {
  await telegram.close()
  telegram = await startTelegram({ limits: false, bots: [{ username: "own_bot", topicsInPrivate: true }] })
  ada = telegram.person("Ada")
  const home = ada.chatWith(telegram.bot())
  ada.write(home, "/start")
  intake = await openIntake({ telegram, group: home, users: [String(ada.id)] })
  intake.start()
  const { session, thread } = await intake.session("shop")
  ada.write(home, "in the topic", { thread })
  ada.write(home, "outside of it")
  await intake.settled()
  expect(await intake.messages()).toMatchObject([{ sessionId: session.id, text: "in the topic" }])
  expect((await intake.answers()).map((text) => text.slice(0, 23)).toSorted()).toEqual([
    "Here I only take comman",
    "What you write in a ses",
  ])
})

test("whoever wrote a message sees on it that it came, and why it did not", async () => {
  await open()
  const { thread } = await intake.session("shop")
  const ids = ["one", "two", "three"].map((text) => ada.write(group, text, { thread }).id)
  await intake.settled()
  const { store } = intake
  const [one, two, three] = await store.deliveries.ofChannel("agent", ["queued"])
  const say = (delivery: Delivery, state: "delivered" | "failed" | "done", reason: Reason | null = null) =>
    store.transaction((tx) => moveOn(tx, delivery, [state], Date.now(), reason))
  await say(one!, "delivered")
  await say({ ...one!, state: "delivered" }, "done")
  await say(two!, "failed", because("refused", "it would end the session"))
  const receipts = async () =>
    (await intake.shown()).flatMap((row) => (row.kind === "receipt" ? [[row.messageId, row.state, row.why]] : []))
  expect(await receipts()).toEqual([
    ...ids.map((id) => [id, "queued", null]),
    [ids[0], "delivered", null],
    [ids[1], "failed", "it would end the session"],
  ])
  expect(await receipts()).toHaveLength(5)
  expect(three!.state).toBe("queued")
})

test("an update that always fails is given up and written down, and those behind it get their turn", async () => {
  await open({
    deps: {
      buttons: [{ beginning: "p", about: async () => undefined, press: () => Promise.reject(new Error("broken")) }],
      retryMs: 20,
    },
  })
  const { thread } = await intake.session("shop")
  const approval = await post(group.id, thread, [{ text: "Go", callback_data: "p:1" }])
  ada.press(group, approval, "Go")
  ada.write(group, "goes on", { thread })
  await expect.poll(texts).toEqual(["goes on"])
  await expect.poll(() => intake.audit(), { timeout: 60_000 }).toEqual(["throughline channel.given_up broken"])
  await intake.settled()
})

test("topics that people close, reopen and rename are known as such; a group that moves takes them along", async () => {
  await open()
  const { topic, thread } = await intake.session("shop")
  const now = async () => (await intake.store.topics.byId(topic.id))!
  ada.closeTopic(group, thread)
  await expect.poll(async () => (await now()).state).toBe("closed")
  ada.reopenTopic(group, thread)
  await expect.poll(async () => (await now()).state).toBe("open")
  ada.renameTopic(group, thread, "the shop")
  await expect.poll(async () => (await now()).name).toBe("the shop")
  const next = telegram.migrate(group)
  await expect.poll(async () => (await now()).chatId).toBe(String(next.id))
  await intake.settled()
  const moves = (await intake.store.journal.after(0, 100)).filter(({ kind }) => kind === "chat.moved")
  expect(moves.map(({ data }) => data.to)).toEqual([String(next.id)])
  expect((await intake.answers()).filter((text) => text.includes(String(next.id)))).toHaveLength(1)
})

test("a group that becomes another one is still the one of the configuration, with no topic yet and after a restart", async () => {
  await open()
  const next = telegram.migrate(group)
  await intake.settled()
  await intake.stop()
  intake.start()
  ada.write(next, "/help")
  await intake.settled()
  const shown = (await intake.shown()).filter((one) => one.kind === "answer" && one.chatId === String(next.id))
  expect(shown).toHaveLength(2)
})
