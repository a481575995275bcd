import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, expect, test } from "vitest"
import { openIntake, type TestIntake } from "../../../test/fixtures/intake.ts"
import type { Person } from "../../../test/fixtures/telegram/person.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import type { Telegram } from "../../../test/fixtures/telegram/telegram.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"
import { telegramChannel } from "../../adapters/telegram/telegram.ts"
import { systemClock } from "../../lib/clock.ts"
import { makePoller, PACE, type PollPace } from "./poll.ts"

let telegram: Telegram
let ada: Person
let group: Room
const opened: TestIntake[] = []
beforeEach(async () => {
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
})
afterEach(async () => {
  for (const intake of opened.splice(0)) await intake.dispose()
  await telegram.close()
})

/** Conflicts as on the day, ten times as fast. The messenger tells a second loser three seconds late. */
const FAST: Partial<PollPace> = {
  pollSeconds: 20,
  steadyMs: 4_000,
  stayMs: 100,
  conflictMs: 5_000,
  probeSeconds: 5,
  untakenMs: 1_500,
  awayMs: 50,
  awayMostMs: 400,
  unauthorisedMs: 300,
  unauthorisedMostMs: 600,
}
const make = async (pace: Partial<PollPace> = {}) => {
  const intake = await openIntake({ telegram, group, users: [String(ada.id)], deps: { pace: { ...FAST, ...pace } } })
  opened.push(intake)
  return intake
}
const open = async (pace: Partial<PollPace> = {}) => {
  const intake = await make(pace)
  intake.start()
  return intake
}
const SOON = { timeout: 60_000 }
const texts = async (intake: TestIntake) => (await intake.messages()).map(({ text }) => text)
const stateOf = async (intake: TestIntake) => (await intake.store.bots.list())[0]?.state
const told = async (intake: TestIntake) =>
  (await intake.store.journal.after(0, 1_000)).map(({ kind }) => kind).filter((kind) => kind.startsWith("bot."))
const polls = () => telegram.calls.filter(({ method }) => method === "getUpdates")

test("updates whose numbers jump to lower ones are all taken, and each once, also where a number was given before", async () => {
  const intake = await open()
  const { thread } = await intake.session("shop")
  const wanted: string[] = []
  const write = (count: number, what: string) => {
    for (let n = 0; n < count; n++) {
      wanted.push(`${what} ${n}`)
      ada.write(group, `${what} ${n}`, { thread })
    }
  }
  write(120, "before")
  telegram.jumpUpdateIds(telegram.bot(), 700)
  write(30, "after")
  await intake.settled()
  // So far back that numbers are given again that other updates had.
  telegram.jumpUpdateIds(telegram.bot(), 690)
  write(30, "again")
  await intake.settled()
  expect(await texts(intake)).toEqual(wanted)
  telegram.jumpUpdateIds(telegram.bot(), 2_000_000_000)
  write(3, "far")
  await intake.settled()
  expect(await texts(intake)).toEqual(wanted)
})

test("what was taken in before a stop is not asked for again, and what comes meanwhile is not lost", async () => {
  const intake = await open()
  const { thread } = await intake.session("shop")
  ada.write(group, "one", { thread })
  await intake.settled()
  await intake.stop()
  ada.write(group, "two", { thread })
  telegram.faults.next("getUpdates", { kind: "drop-after" })
  intake.start()
  await expect.poll(() => texts(intake)).toEqual(["one", "two"])
})

test("a second daemon with the same bot gives way, says so once, and takes over when the first is gone", async () => {
  const [first, second] = [await open(), await make()]
  const { thread } = await first.session("shop")
  ada.write(group, "one", { thread })
  await first.settled()
  await sleep(4_100)
  second.start()
  await expect.poll(() => stateOf(second), SOON).toBe("conflict")
  const from = Date.now()
  for (let n = 0; n < 5; n++) {
    ada.write(group, `more ${n}`, { thread })
    await sleep(1_500)
  }
  await expect.poll(() => texts(first), SOON).toEqual(["one", "more 0", "more 1", "more 2", "more 3", "more 4"])
  expect(await stateOf(first)).toBe("ok")
  const took = Date.now() - from
  const conflicts = polls().filter(({ code, at }) => code === 409 && at >= from)
  // Each time they meet both hear of it; they meet once in the time that is set for it.
  expect(conflicts.length).toBeLessThanOrEqual(2 * Math.ceil(took / FAST.conflictMs!))
  expect(await told(second)).toEqual(["bot.conflict"])
  expect(await second.messages()).toEqual([])
  await first.stop()
  await expect.poll(() => stateOf(second), { timeout: FAST.conflictMs! + 9_000 }).toBe("ok")
  const { thread: own } = await second.session("other")
  ada.write(group, "to the second", { thread: own })
  await expect.poll(() => texts(second), SOON).toEqual(["to the second"])
  expect(await told(second)).toEqual(["bot.conflict", "bot.ok"])
}, 240_000)

test("the figures for the day: still within a second, one meeting a minute, back within 90 s of the other's end", () => {
  expect(PACE.conflictMs).toBeGreaterThan(60_000)
  expect(PACE.conflictMs + PACE.probeSeconds * 1_000 + PACE.untakenMs).toBeLessThanOrEqual(90_000)
})

test("a token that is not good any more is a state, asked about calmly, and over when it is good again", async () => {
  const intake = await open()
  await expect.poll(() => stateOf(intake), SOON).toBe("ok")
  telegram.bot().isRevoked = true
  telegram.setDown(true)
  telegram.setDown(false)
  await expect.poll(() => stateOf(intake), SOON).toBe("unauthorised")
  const before = polls().length
  await sleep(1_000)
  expect(polls().length - before).toBeLessThanOrEqual(4)
  telegram.bot().isRevoked = false
  await expect.poll(() => stateOf(intake), { timeout: 60_000 }).toBe("ok")
  expect((await told(intake)).filter((kind) => kind === "bot.unauthorised")).toHaveLength(1)
}, 240_000)

test("without a network it is away, tries less and less often, and comes back", async () => {
  const intake = await open()
  const { thread } = await intake.session("shop")
  await expect.poll(() => stateOf(intake), SOON).toBe("ok")
  telegram.setDown(true)
  await expect.poll(() => stateOf(intake), SOON).toBe("away")
  ada.write(group, "while it was away", { thread })
  await sleep(1_000)
  telegram.setDown(false)
  await expect.poll(() => texts(intake), SOON).toEqual(["while it was away"])
  expect(await told(intake)).toEqual(["bot.away", "bot.ok"])
})

test("told to wait, it asks nothing until the time is over", async () => {
  const intake = await open({ pollSeconds: 1, probeSeconds: 1 })
  const { thread } = await intake.session("shop")
  await expect.poll(() => stateOf(intake), SOON).toBe("ok")
  telegram.faults.next("getUpdates", { kind: "flood", retryS: 2 })
  await telegram.waitFor(() => polls().some(({ code }) => code === 429))
  const at = polls().find(({ code }) => code === 429)!.at
  ada.write(group, "later", { thread })
  await expect.poll(() => texts(intake), SOON).toEqual(["later"])
  const next = polls().find((call) => call.at > at)!
  expect(next.at - at).toBeGreaterThanOrEqual(2_000)
  expect(telegram.ignoredWaits).toEqual([])
})

test("of two daemons with one store one asks, and the other takes the role when it is not renewed", async () => {
  const intake = await open({ roleMs: 2_500, pollSeconds: 1, probeSeconds: 1 })
  await expect.poll(() => stateOf(intake), SOON).toBe("ok")
  const { store } = intake
  let admitted = 0
  const other = makePoller({
    store,
    clock: systemClock,
    channel: telegramChannel({ token: telegram.token, apiRoot: telegram.apiRoot }),
    bot: `telegram:${telegram.bot().user.id}`,
    owner: "there /home",
    onAdmitted: () => void admitted++,
    onTrouble: () => {},
    pace: { ...FAST, roleMs: 2_500, pollSeconds: 1, probeSeconds: 1, standbyMs: 100 },
  })
  const stopping = new AbortController()
  const running = other.run(stopping.signal)
  const { thread } = await intake.session("shop")
  ada.write(group, "one", { thread })
  await intake.settled()
  await sleep(3_000)
  expect(admitted).toBe(0)
  expect(polls().filter(({ code }) => code === 409)).toEqual([])
  await intake.stop()
  ada.write(group, "two", { thread })
  await expect.poll(() => admitted, SOON).toBe(1)
  stopping.abort()
  await running
  expect(await store.roles.list()).toEqual([])
})
