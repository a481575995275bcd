import { afterEach, beforeEach, expect, test } from "vitest"
import { type IntakeOptions, openIntake, type TestIntake } from "../../../test/fixtures/intake.ts"
import type { Person } from "../../../test/fixtures/telegram/person.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import type { Telegram } from "../../../test/fixtures/telegram/telegram.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"
import type { InterruptAnswer } from "../../domain/messages.ts"
import { because } from "../../domain/reason.ts"

const BOTS = ["a_bot", "b_bot", "c_bot"]
let telegram: Telegram
let ada: Person
let group: Room
const opened: TestIntake[] = []
beforeEach(async () => {
  telegram = await startTelegram({ limits: false, bots: BOTS.map((username) => ({ username })) })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
})
afterEach(async () => {
  for (const intake of opened.splice(0)) await intake.dispose()
  await telegram.close()
})

const open = async (username = "a_bot", options: Partial<IntakeOptions> = {}) => {
  const bot = telegram.bot(username)
  const intake = await openIntake({ telegram, group, bot, users: [String(ada.id)], ...options })
  opened.push(intake)
  intake.start()
  return intake
}

test("a topic is quieter, louder and muted by command, and says how it stands", async () => {
  const intake = await open()
  const { thread, topic } = await intake.session("shop")
  const say = async (text: string) => {
    ada.write(group, text, { thread })
    await intake.settled()
    return (await intake.answers()).at(-1)
  }
  const now = async () => (await intake.store.topics.byId(topic.id))!
  expect(await say("/mute")).toContain("/unmute turns sound back on")
  expect((await now()).isMuted).toBe(true)
  await say("/unmute")
  expect((await now()).isMuted).toBe(false)
  for (const verbosity of ["verbose", "quiet", "normal"] as const) {
    await say(`/${verbosity.toUpperCase()}`)
    expect((await now()).verbosity).toBe(verbosity)
  }
  ada.write(group, "do it", { thread })
  await intake.settled()
  expect(await say("/status@a_bot")).toBe(
    "shop • shop\nThe agent is idle.\n1 message waits for it.\nNot muted, normal.",
  )
  expect(await say("/queue")).toBe("1. do it")
  expect(await say("/sessions")).toContain("• shop • shop is idle")
  expect(await say("/help")).toContain("/stop – Press Esc")
})

test("any other command in a topic is the agent's own, ours with two slashes too; a path is no command", async () => {
  const intake = await open()
  const { thread } = await intake.session("shop")
  for (const text of ["/compact", "/model opus", "//status", "/review@a_bot the last one", "/home/ada/x is broken"])
    ada.write(group, text, { thread })
  ada.write(group, "/compact@b_bot", { thread })
  await intake.settled()
  expect((await intake.messages()).map(({ text, isCommand = false }) => [text, isCommand])).toEqual([
    ["/compact", true],
    ["/model opus", true],
    ["/status", true],
    ["/review the last one", true],
    ["/home/ada/x is broken", false],
  ])
})

test("stop presses Escape and says what came of it; with words they are said next", async () => {
  const answers: InterruptAnswer[] = [
    { interrupted: true, way: "pane" },
    { interrupted: false, reason: because("agent_idle").words },
  ]
  const pressed: string[] = []
  const intake = await open("a_bot", {
    interrupt: async (sessionId) => {
      pressed.push(sessionId)
      return answers[pressed.length - 1]!
    },
  })
  const { thread, session } = await intake.session("shop")
  for (const text of ["/stop", "/stop", "/stop do this instead"]) ada.write(group, text, { thread })
  ada.write(group, "/stop@a_bot")
  await intake.settled()
  expect(pressed).toEqual([session.id, session.id])
  expect((await intake.answers()).toSorted()).toEqual([
    "Not stopped: the agent is idle.",
    "Stopped.",
    "Write that in a session's topic.",
  ])
  expect(await intake.messages()).toMatchObject([{ text: "do this instead", priority: "stop" }])
})

test("a session that cannot be started says why", async () => {
  const intake = await open()
  const { session, topic } = await intake.session("shop", { isLive: false })
  const words: Record<string, string> = {
    "/new nobody": "Not started: there is no team nobody.",
    "/new /no/such/folder": "Not started: there is no folder /no/such/folder.",
    [`/resume ${session.id.slice(0, 8)}`]: "Not started: claude-code cannot be started in a terminal.",
    "/resume ffffffff": "No session begins with ffffffff.",
  }
  for (const [text, answer] of Object.entries(words)) {
    ada.write(group, text)
    await intake.settled()
    expect((await intake.answers()).at(-1)).toBe(answer)
  }
  ada.write(group, "/resume", { thread: topic.threadId! })
  await intake.settled()
  expect((await intake.answers()).at(-1)).toContain("cannot be started in a terminal")
})

test("of three bots in one group one answers what is said to nobody, each what is said to it, and none another's topic", async () => {
  const intakes = await Promise.all(BOTS.map((username) => open(username)))
  const seats = []
  for (const [at, intake] of intakes.entries()) seats.push(await intake.session(`shop ${at}`))
  const answers = () => Promise.all(intakes.map((intake) => intake.answers()))
  const settled = () => Promise.all(intakes.map((intake) => intake.settled()))
  const wanted = seats.map((): string[] => [])
  for (let n = 0; n < 30; n++) {
    wanted[n % 3]!.push(`text ${n}`)
    ada.write(group, `text ${n}`, { thread: seats[n % 3]!.thread })
  }
  await settled()
  expect(await Promise.all(intakes.map(async (one) => (await one.messages()).map(({ text }) => text)))).toEqual(wanted)
  expect(await answers()).toEqual([[], [], []])
  for (const text of ["/sessions", "/status", "/help", "hello everybody"]) ada.write(group, text)
  await settled()
  expect((await answers()).map(({ length }) => length)).toEqual([4, 0, 0])
  ada.write(group, "/status@c_bot")
  ada.write(group, "/status@B_BOT")
  await settled()
  expect((await answers()).map(({ length }) => length)).toEqual([4, 1, 1])
  // A code is for the machine that showed it, whoever else hears it.
  const eve = telegram.person("Eve")
  telegram.join(group, eve)
  const { code } = await intakes[1]!.pairing.issue()
  eve.write(group, `/pair ${code}`)
  await settled()
  expect(await Promise.all(intakes.map(async (one) => (await one.pairing.list()).length))).toEqual([0, 1, 0])
  expect((await answers()).map(({ length }) => length)).toEqual([4, 2, 1])
}, 240_000)
