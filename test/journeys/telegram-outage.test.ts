import { afterAll, beforeAll, expect, test } from "vitest"
import { makePhoneHome, type PhoneHome } from "../fixtures/phone.ts"
import { OUTAGES } from "../fixtures/telegram/faults.ts"
import type { Person } from "../fixtures/telegram/person.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

const SOON = { timeout: 90_000, interval: 100 }
const COMMAND = "rm -rf build && git push --force origin main"

/** While set, Telegram's clock stands still: on a busy machine a kill takes longer than an app does between two pieces. */
let stillAt: number | undefined
let telegram: Telegram
let ada: Person
let group: Room
let phone: PhoneHome
let seat: Awaited<ReturnType<PhoneHome["sit"]>>
beforeAll(async () => {
  telegram = await startTelegram({ limits: false, now: () => stillAt ?? Date.now() })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
  phone = await makePhoneHome({ telegram, group, people: [ada], teams: ["shop"] })
  seat = await phone.sit("shop")
}, 240_000)
afterAll(async () => {
  await phone?.dispose()
  await telegram?.close()
})

const said = () => telegram.read(group, seat.thread).filter(({ isBot, service }) => isBot && !service)
const approvals = () => said().filter(({ buttons, text }) => buttons.length > 0 && text.includes("rm -rf build"))
const failed = (code: number) => telegram.calls.filter((call) => !call.ok && call.code === code).length

test("Telegram answers 502 and the daemon is killed meanwhile: the request to allow a destructive command comes, once or marked, and is answered", async () => {
  await expect.poll(() => said().some(({ text }) => text.startsWith("✅ done")), SOON).toBe(true)
  const end = telegram.fault({ trouble: OUTAGES.badGateway })
  await phone.send(`session:${seat.sessionId}`, `Clean up\nDIALOG ${COMMAND}`)
  // The request is made, and Telegram accepts nothing.
  const waiting = () => phone.rows<{ n: number }>("select count(*) as n from permissions where state = 'waiting'")[0]!.n
  await expect.poll(waiting, SOON).toBe(1)
  const before = failed(502)
  await expect.poll(() => failed(502), SOON).toBeGreaterThan(before + 1)
  expect(approvals()).toEqual([])
  await phone.home.kill()
  end()
  const pages = telegram.fault({ trouble: OUTAGES.nginx })
  await phone.home.run("start")
  const calls = telegram.calls.length
  await expect.poll(() => telegram.calls.length, SOON).toBeGreaterThan(calls)
  pages()
  telegram.fault({ trouble: OUTAGES.restart, times: 1 })
  await expect.poll(() => approvals().length, SOON).toBeGreaterThanOrEqual(1)
  const [first, ...more] = approvals()
  expect(first!.isSilent).toBe(false)
  for (const { text } of more) expect(text).toContain("may be a repeat")
  const newest = approvals().at(-1)!
  const label = newest.buttons.flat().find((button) => /Deny$/.test(button.label))!.label
  const press = ada.press(group, newest.id, label)
  await expect.poll(() => press.answer(), SOON).toMatchObject({ text: "Denied." })
  await seat.agent.until((log) => log.some(({ kind }) => kind === "hook-decided"))
  await expect.poll(waiting, SOON).toBe(0)
  // Messages from the meantime are there too, and none was given up.
  const lost = phone.rows<{ key: string }>(
    "select key from deliveries where channel = 'telegram' and state in ('failed', 'uncertain')",
  )
  expect(lost).toEqual([])
}, 240_000)

test("a paste that the app sent in pieces is one prompt and one turn, also when the daemon is killed between the pieces", async () => {
  const text = `Read this${"-x".repeat(4_500)}`
  const pieces = [text.slice(0, 4_096), text.slice(4_096, 8_192), text.slice(8_192)]
  const before = seat.agent.prompts().length
  stillAt = Date.now()
  ada.write(group, pieces[0]!, { thread: seat.thread })
  await telegram.waitFor(() => telegram.bot().updates.pending.length === 0, 60_000, "the first piece to be taken")
  await phone.home.kill()
  ada.write(group, pieces[1]!, { thread: seat.thread })
  ada.write(group, pieces[2]!, { thread: seat.thread })
  stillAt = undefined
  await phone.home.run("start")
  await expect.poll(() => seat.agent.prompts().length, SOON).toBeGreaterThan(before)
  await expect.poll(() => seat.agent.registry()?.status, SOON).toBe("idle")
  const prompts = seat.agent.prompts().slice(before)
  expect(prompts.map((prompt) => prompt.length)).toEqual([text.length])
  expect(prompts[0]).toBe(text)
}, 240_000)

test("topics are switched off in the group: every message names its session, and a reply to one reaches that session", async () => {
  telegram.setForum(group, false)
  await phone.send(`session:${seat.sessionId}`, "Count the apples")
  const flat = () => telegram.read(group, null).filter(({ isBot, service }) => isBot && !service)
  await expect.poll(() => flat().some(({ text }) => text.endsWith("\nDone: Count the apples")), SOON).toBe(true)
  const reply = flat().find(({ text }) => text.endsWith("\nDone: Count the apples"))!
  expect(reply.text).toMatch(/^▸ .* • shop/)
  await expect
    .poll(() => flat().filter(({ text }) => text.startsWith("⚠️ Topics are switched off")).length, SOON)
    .toBe(1)
  await expect.poll(() => seat.agent.registry()?.status, SOON).toBe("idle")
  ada.write(group, "Count the pears", { replyTo: reply.id })
  await expect.poll(() => seat.agent.prompts(), SOON).toContain("Count the pears")
  const asked = ada.write(group, "Count the plums")
  await expect
    .poll(() => flat().find(({ replyTo }) => replyTo === asked.id)?.text, SOON)
    .toMatch(/^This chat has no topics/)
  expect(seat.agent.prompts()).not.toContain("Count the plums")
  const named = flat().filter(({ text, replyTo }) => replyTo === undefined && !text.startsWith("⚠️"))
  expect(named.filter(({ text }) => !text.startsWith("▸ ")).map(({ text }) => text)).toEqual([])
}, 240_000)
