import { afterAll, beforeAll, expect, test } from "vitest"
import { makePhoneHome, type PhoneHome } from "../fixtures/phone.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

const SOON = { timeout: 60_000, interval: 100 }
let telegram: Telegram
let group: Room
let phone: PhoneHome
beforeAll(async () => {
  telegram = await startTelegram({ limits: false })
  const ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
  phone = await makePhoneHome({ telegram, group, people: [ada], teams: ["shop"] })
}, 240_000)
afterAll(async () => {
  await phone.dispose()
  await telegram.close()
})

test("a group that became another one stays in use, even by a daemon that knows only its old id", async () => {
  const next = telegram.migrate(group)
  telegram.setForum(next, true)
  const told = () => telegram.read(next).flatMap(({ isBot, text }) => (isBot ? [text] : []))
  await expect.poll(told, SOON).toEqual([expect.stringContaining("has a new number")])
  await phone.home.kill()
  await phone.home.run("start")
  const before = telegram.calls.length
  const { sessionId } = await phone.sit("shop")
  expect(phone.rows(`select chat_id from topics where session_id = '${sessionId}'`)).toEqual([
    { chat_id: String(next.id) },
  ])
  const chats = telegram.calls.slice(before).flatMap(({ params }) => params.chat_id ?? [])
  expect(new Set(chats.map(String)), "nothing is tried there any more").toEqual(new Set([String(next.id)]))
}, 240_000)
