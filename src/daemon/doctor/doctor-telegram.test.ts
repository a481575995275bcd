import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { addSession } from "../../../test/contracts/store/examples.ts"
import type { Person } from "../../../test/fixtures/telegram/person.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import type { Telegram } from "../../../test/fixtures/telegram/telegram.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"
import type { Store } from "../../domain/store.ts"
import { systemClock } from "../../lib/clock.ts"
import type { BotModule } from "../../messenger/module.ts"
import { local } from "../../operations/invoke.ts"
import { operations } from "../../operations/list.ts"
import type { Services } from "../../operations/services.ts"
import { sqlite } from "../../store/dialects/sqlite.ts"
import { openStore } from "../../store/open.ts"
import { makeRoster } from "../../teams/roster.ts"
import { loadConfig } from "../config/config.ts"
import { readEnvironment } from "../process/environment.ts"
import { type Home, homeAt } from "../process/home.ts"
import { openBot } from "../wiring/bot.ts"
import { telegramFindings } from "./doctor-telegram.ts"

let dir: string
let home: Home
let store: Store
let telegram: Telegram
let ada: Person
let group: Room
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "tl-doctor-"))
  home = homeAt(dir, tmpdir())
  store = await openStore(sqlite({ path: home.database }))
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
  configure({ chat: String(group.id), users: [String(ada.id)] })
})
afterEach(async () => {
  await telegram.close()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const environment = readEnvironment({ PATH: "/nowhere" })
const BOT = () => `telegram:${telegram.bot().user.id}`
function configure(settings: object) {
  const { token, apiRoot } = telegram
  writeFileSync(home.config, JSON.stringify({ telegram: { token, apiRoot, ...settings } }))
}
function configureTeams(teams: Record<string, object>) {
  const { token, apiRoot } = telegram
  const all = Object.entries(teams).map(([name, chat]) => [name, { project: dir, chat }])
  writeFileSync(home.config, JSON.stringify({ telegram: { token, apiRoot }, teams: Object.fromEntries(all) }))
}
function bot(): Promise<BotModule> {
  const { config } = loadConfig({ path: home.config, environment: {}, flags: [] })
  return openBot({ store, clock: systemClock, config, roster: makeRoster({ read: () => config.teams }) })
}
const call = async () => local(operations, { telegram: await bot() } as Services)
async function findings() {
  const found = await telegramFindings(home, environment, { callIfRunning: await call() })
  return Object.fromEntries(found.map(({ check, ...rest }) => [check.replace("telegram ", ""), rest]))
}

test("without a token there is nothing to say", async () => {
  writeFileSync(home.config, "{}")
  expect(await telegramFindings(home, environment, undefined)).toEqual([])
  writeFileSync(home.config, "{ malformed")
  expect(await telegramFindings(home, environment, undefined)).toEqual([])
})

test("how the bot stands is said with since when and what to do: conflict, away, refused, listening", async () => {
  const atMs = Date.UTC(2026, 0, 2, 3, 4)
  const at = new Date(atMs).toISOString()
  await store.bots.setState(BOT(), "conflict", "terminated by other getUpdates request", atMs)
  expect((await findings()).listening).toMatchObject({
    state: "wrong",
    detail: `another program polls this bot's updates since ${at} (terminated by other getUpdates request)`,
    remedy: expect.stringContaining("A token works for one program only"),
  })
  await store.bots.setState(BOT(), "away", "no connection", atMs)
  expect((await findings()).listening).toMatchObject({ state: "warning", detail: expect.stringContaining(at) })
  await store.bots.setState(BOT(), "unauthorised", "Unauthorized", atMs)
  expect((await findings()).listening).toMatchObject({ state: "wrong", remedy: "throughline telegram setup" })
  await store.bots.setState(BOT(), "ok", null, atMs)
  expect((await findings()).listening).toEqual({ state: "good", detail: `yes, since ${at}` })
})

test("topics that may be there twice, and what is on hold, are listed with name, time and remedy", async () => {
  const { id: sessionId } = await addSession(store)
  const topic = {
    ...{ id: "t1", channel: "telegram", home: "here", chatId: String(group.id), threadId: 5, sessionId },
    ...{
      name: "laptop • shop",
      state: "open" as const,
      verbosity: "normal" as const,
      isMuted: false,
      sharedThreadId: null,
    },
    ...{
      makingAtMs: null,
      unconfirmed: 1,
      progressMessage: null,
      createdAtMs: Date.UTC(2026, 0, 2),
      usedAtMs: Date.UTC(2026, 0, 2),
    },
  }
  await store.topics.ensure(topic)
  const hold = { kind: "no_rights", why: "not enough rights", sinceMs: 0, nextAtMs: 60_000 }
  await store.holds.put({ key: `${BOT()}:${group.id}`, ...hold })
  const { topics, outbox } = await findings()
  expect(topics).toEqual({
    state: "warning",
    detail: '"laptop • shop" may exist 2 times: one was requested at 2026-01-02T00:00:00.000Z and got no answer',
    remedy: 'In Telegram, look for a second topic "laptop • shop" without messages in it, and delete that one.',
  })
  expect(outbox).toMatchObject({
    state: "warning",
    detail: "paused since 1970-01-01T00:00:00.000Z: not enough rights",
  })
})

test("a group without topics, missing rights, no tmux, nobody who may", async () => {
  configure({ chat: String(group.id) })
  telegram.setForum(group, false)
  telegram.setMember(group, telegram.bot(), "administrator", { can_manage_topics: true })
  const found = await findings()
  expect(found.clock).toMatchObject({ state: "good" })
  expect(found.group).toMatchObject({
    state: "wrong",
    remedy: "In Telegram, open Work → Edit → Topics → turn them on.",
  })
  expect(found.rights).toMatchObject({ state: "warning", detail: expect.stringContaining("lacks Delete Messages") })
  expect(found.tmux).toMatchObject({ state: "warning", remedy: expect.stringContaining("Install tmux") })
  expect(found.people).toMatchObject({ state: "warning", remedy: expect.stringContaining("telegram pair") })
  telegram.setMember(group, telegram.bot(), "kicked")
  expect((await findings()).group).toMatchObject({
    state: "wrong",
    detail: expect.stringContaining("is not in the group"),
  })
  const small = telegram.group("Small", { people: [ada], type: "group" })
  const next = telegram.migrate(small)
  configure({ chat: String(small.id) })
  expect((await findings()).group).toMatchObject({ remedy: `throughline telegram setup --chat ${next.id}` })
  await telegram.close()
  expect((await findings()).bot).toMatchObject({ state: "warning", detail: expect.stringContaining("not reached") })
})

test("a clock that is off is told by Telegram's own, which way and by how much", async () => {
  const result = { id: 1, is_bot: true, first_name: "b", username: "b_bot", has_topics_enabled: true }
  const server = createServer((_, response) => {
    const headers = { "content-type": "application/json", date: new Date(Date.now() + 300_000).toUTCString() }
    response.writeHead(200, headers).end(JSON.stringify({ ok: true, result }))
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  configure({ apiRoot: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const { clock } = await findings()
  expect(clock).toMatchObject({ state: "warning", remedy: expect.stringContaining("set-ntp") })
  expect(clock?.detail).toMatch(/^this machine is (299|300) s behind Telegram$/)
  server.closeAllConnections()
  server.close()
})

test("who may: those of the configuration and those who were paired; only these can be removed", async () => {
  const module = await bot()
  await store.people.put({ channel: "telegram", userId: "7", name: "Eve", chatId: "7", pairedAtMs: 5 })
  expect(await module.people()).toEqual([
    { userId: String(ada.id), name: null, pairedAtMs: null, team: null },
    { userId: "7", name: "Eve", pairedAtMs: 5, team: null },
  ])
  await expect(module.remove(String(ada.id))).rejects.toThrow("telegram.users of the configuration")
  await module.remove("7")
  await expect(module.remove("7")).rejects.toThrow("no paired person has userId 7")
  expect(await module.people()).toHaveLength(1)
})

test("a test says of each step how it went, and leaves no topic behind", async () => {
  expect((await (await bot()).test()).map(({ what, ok }) => [what, ok])).toEqual([
    ["a message", true],
    ["a topic", true],
    ["a message in it", true],
    ["the topic removed again", true],
  ])
  expect(telegram.topics(group)).toEqual([])
  telegram.faults.next("sendMessage", { kind: "flood", retryS: 9 })
  const [first] = await (await bot()).test()
  expect(first).toMatchObject({ ok: false, detail: "it asks to wait 9 s" })
  configure({})
  await expect((await bot()).test()).rejects.toThrow("nowhere to send to")
})

test("a group that became another one is used as it is now, and that it is set otherwise is said", async () => {
  const next = telegram.migrate(group)
  expect((await findings()).group).toMatchObject({ state: "wrong", detail: `the group is now ${next.id}` })
  await store.topics.moveChat("telegram", String(group.id), String(next.id))
  const { chat, group: looked } = await findings()
  expect(chat).toMatchObject({ state: "warning", detail: expect.stringContaining(`${group.id}`) })
  expect(chat!.remedy).toContain(`telegram setup --chat ${next.id}`)
  expect(looked?.detail).not.toContain("is now")
  expect((await (await bot()).test())[0]).toMatchObject({ chatId: String(next.id), ok: true })
})

test("every team's group is looked at: with topics, without, with a shared thread, or without the bot", async () => {
  const felt = telegram.group("Felt", { people: [ada], isForum: false })
  const away = telegram.group("Sentry", { people: [ada], bots: [] })
  const lab = telegram.group("Lab", { people: [ada], rights: { can_manage_topics: false } })
  configureTeams({
    homelab: { id: group.id },
    felt: { id: felt.id },
    api: { id: felt.id, thread: 7 },
    sentry: { id: away.id },
    lab: { id: lab.id },
  })
  const found = await findings()
  expect(found.topics, "no common group is needed").toBeUndefined()
  expect(found["group of homelab"]).toEqual({ state: "good", detail: "Work, with topics" })
  expect(found["rights of homelab"]).toMatchObject({ state: "good" })
  expect(found["group of felt, api"]).toMatchObject({ state: "wrong", detail: expect.stringContaining("no thread 7") })
  expect(found["group of sentry"]).toMatchObject({
    state: "wrong",
    detail: expect.stringContaining("is not in the group"),
    remedy: expect.stringContaining("teams.sentry.chat.id"),
  })
  expect(found["rights of lab"]).toMatchObject({ state: "wrong", detail: expect.stringContaining("Manage Topics") })
  configureTeams({ felt: { id: felt.id } })
  const alone = await findings()
  expect(alone["group of felt"]).toEqual({ state: "good", detail: "Felt, no topics: messages name their session" })
  expect(alone["rights of felt"]).toBeUndefined()
})

test("a team's group that became another one is looked at under its new number", async () => {
  const felt = telegram.group("Felt", { people: [ada], isForum: false })
  configureTeams({ felt: { id: felt.id } })
  const next = telegram.migrate(felt)
  expect((await findings())["group of felt"]).toMatchObject({ state: "warning", detail: `the group is now ${next.id}` })
  await store.topics.moveChat("telegram", String(felt.id), String(next.id))
  expect((await findings())["group of felt"]).toMatchObject({ state: "good" })
})

test("a test message goes to every team's group, and a code of a team is for one that has a chat", async () => {
  const felt = telegram.group("Felt", { people: [ada], isForum: false })
  configureTeams({ homelab: { id: group.id }, felt: { id: felt.id } })
  const module = await bot()
  const steps = await module.test()
  expect(steps.every(({ ok }) => ok)).toBe(true)
  expect(steps.map(({ what }) => what)).toEqual([
    "homelab: a message",
    "homelab: a topic",
    "homelab: a message in it",
    "homelab: the topic removed again",
    "felt: a message",
  ])
  await expect(module.pair("nobody")).rejects.toThrow("there is no team nobody")
  expect((await module.pair("felt")).code).toMatch(/^\w{8}$/)
})
