import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { FakeEntry } from "../fixtures/fake-agent-files.ts"
import { makePhoneHome, type PhoneHome } from "../fixtures/phone.ts"
import type { Person } from "../fixtures/telegram/person.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

/** A group takes 20 messages a minute: what is to be shown may wait for its turn. */
const SOON = { timeout: 80_000, interval: 100 }

let telegram: Telegram
let ada: Person
let group: Room
let phone: PhoneHome
let seat: Awaited<ReturnType<PhoneHome["sit"]>>
beforeAll(async () => {
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
  phone = await makePhoneHome({ telegram, group, people: [ada], teams: ["shop", "yard"] })
  // So that the session can be started from afar, with an agent that is no real one.
  const program = phone.agents.program
  const teams = { shop: { project: phone.dirOf("shop"), program }, yard: { project: phone.dirOf("yard") } }
  writeFileSync(join(phone.home.dir, "config.json"), JSON.stringify({ teams }))
  seat = await phone.sit("shop")
}, 240_000)
afterAll(async () => {
  await phone.dispose()
  await telegram.close()
})

const read = () => telegram.read(group, seat.thread)
const marks = (id: number) =>
  read()
    .find((message) => message.id === id)
    ?.reactions.map(({ emoji }) => emoji)

/** What those log that were started by the daemon: they have one log for all. */
function started(kind: FakeEntry["kind"]): FakeEntry[] {
  const log = join(phone.home.env.HOME!, ".claude", "fake-agent.jsonl")
  const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []
  return lines.map((line) => JSON.parse(line) as FakeEntry).filter((entry) => entry.kind === kind)
}

test("a message in the topic is submitted to the agent, gets a reaction, and is not echoed", async () => {
  const { id } = ada.write(group, "count the files", { thread: seat.thread })
  await expect.poll(() => seat.agent.prompts(), SOON).toContain("count the files")
  await expect.poll(() => marks(id), SOON).toEqual(["👍"])
  expect(
    read().filter(({ isBot, text }) => isBot && text.includes("🧑‍💻") && text.includes("count the files")),
  ).toEqual([])
})

test("a file is at the path that the agent is given", async () => {
  ada.sendDocument(group, Buffer.from("1,2,3"), { thread: seat.thread, name: "prices.csv", caption: "sum them" })
  const prompt = () => seat.agent.prompts().find((text) => text.startsWith("sum them"))
  await expect.poll(prompt, SOON).toMatch(/The file is \S+prices\.csv$/)
  const path = /The file is (\S+)$/.exec(prompt()!)![1]!
  expect(path.startsWith(join(phone.dirOf("shop"), ".throughline", "inbox"))).toBe(true)
  expect(readFileSync(path, "utf8")).toBe("1,2,3")
}, 240_000)

test("stop ends the turn that runs, and a command of the agent's own is its own", async () => {
  ada.write(group, "take long\nSLOW 20000", { thread: seat.thread })
  await seat.agent.until((log) => log.some(({ kind, text }) => kind === "turn" && text.startsWith("take long")))
  ada.write(group, "/stop", { thread: seat.thread })
  await expect
    .poll(
      () =>
        read()
          .filter(({ isBot }) => isBot)
          .map(({ text }) => text),
      SOON,
    )
    .toContain("Stopped.")
  expect(seat.agent.log().some(({ kind }) => kind === "interrupted")).toBe(true)
  const { id } = ada.write(group, "/context", { thread: seat.thread })
  await seat.agent.until((log) => log.some(({ kind, text }) => kind === "unknown-command" && text === "/context"))
  await expect.poll(() => marks(id), SOON).toEqual(["👍"])
}, 240_000)

test("an ended session queues its messages, and Resume continues it with them", async () => {
  const native = seat.agent.registry()!.sessionId
  process.kill(seat.agent.pid, "SIGTERM")
  await expect.poll(seat.agent.isThere, SOON).toBe(false)
  const { id } = ada.write(group, "are you there?", { thread: seat.thread })
  await expect.poll(() => marks(id), SOON).toEqual(["👀"])
  const offer = () => read().find(({ buttons }) => buttons.flat().some(({ label }) => label === "Resume"))
  await expect.poll(offer, SOON).toBeDefined()
  const offered = offer()!.id
  const press = ada.press(group, offered, "Resume")
  expect(await telegram.waitFor(() => press.answer(), 60_000, "the press's answer")).toMatchObject({
    text: "The session continues.",
  })
  const submitted = () => started("prompt").map(({ text, sessionId }) => [text, sessionId])
  await expect.poll(submitted, SOON).toEqual([["are you there?", native]])
  await expect.poll(() => marks(id), SOON).toEqual(["👍"])
  const again = ada.pressOld(group, offered, `r:${seat.sessionId}`)
  expect(await telegram.waitFor(() => again.answer(), 60_000)).toMatchObject({ text: "It runs already." })
}, 240_000)

test("a new session of a team is started by command, once", async () => {
  const before = started("started").length
  const { id } = ada.write(group, "/new shop")
  const answer = () => telegram.read(group, null).find(({ isBot, replyTo }) => isBot && replyTo === id)?.text
  await expect.poll(answer, SOON).toBe("A new session has started, with a topic of its own.")
  expect(started("started").length - before).toBe(1)
  ada.write(group, "/resume")
  const list = () => telegram.read(group, null).find(({ text }) => /^(Ended on|No ended session)/.test(text))
  await expect.poll(list, SOON).toBeDefined()
}, 240_000)

test("messages written while the daemon is down are submitted when it is back, in order", async () => {
  seat = await phone.sit("yard")
  await phone.home.run("stop")
  const texts = Array.from({ length: 20 }, (_, n) => `while you were away ${n}`)
  for (const text of texts) ada.write(group, text, { thread: seat.thread })
  await phone.home.run("start")
  const began = Date.now()
  const got = () => seat.agent.prompts().filter((text) => text.startsWith("while you were away"))
  await expect.poll(() => got().length, SOON).toBe(texts.length)
  expect(got()).toEqual(texts)
  expect(Date.now() - began).toBeLessThan(30_000)
}, 240_000)
