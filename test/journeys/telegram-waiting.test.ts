import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { FakeAgent, FakeAgentOptions } from "../fixtures/fake-agents.ts"
import { makePhoneHome, type PhoneHome } from "../fixtures/phone.ts"
import type { Person } from "../fixtures/telegram/person.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

const SOON = { timeout: 80_000, interval: 50 }

let telegram: Telegram
let ada: Person
let group: Room
let phone: PhoneHome
beforeAll(async () => {
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
  phone = await makePhoneHome({ telegram, group, people: [ada], teams: ["shop", "yard", "ship", "dock"] })
}, 240_000)
afterAll(async () => {
  await phone.dispose()
  await telegram.close()
})

/** An agent at which somebody has typed something, and its topic. */
async function sitAt(team: string, request: Partial<FakeAgentOptions> = {}) {
  const agent = await phone.start(team, request)
  const sessionId = await phone.sessionOf(agent)
  await typed(agent, `hello ${team}`)
  const query = `select thread_id as thread from topics where session_id = '${sessionId}' and thread_id is not null`
  await expect.poll(() => phone.rows(query), SOON).toHaveLength(1)
  await expect.poll(() => agent.registry()?.status, SOON).toBe("idle")
  return { agent, sessionId, thread: phone.rows<{ thread: number }>(query)[0]!.thread }
}

async function typed(agent: FakeAgent, text: string) {
  await phone.agents.panes.paste(agent.pane, text)
  await phone.agents.panes.key(agent.pane, "Enter")
}

const write = (thread: number, text: string) => ada.write(group, text, { thread }).id
const isNotice = ({ isBot, text }: Seen) => isBot && /^(⏳|Delivered|Of \d|Cancelled|⚠️ Not delivered|↻)/.test(text)
const notices = (thread: number) => telegram.read(group, thread).filter(isNotice)
const shown = (thread: number) => notices(thread).map(({ text, replyTo }) => [text, replyTo])
const marks = (thread: number, id: number) =>
  telegram
    .read(group, thread)
    .find((message) => message.id === id)
    ?.reactions.map(({ emoji }) => emoji)

const NOT_IN_TMUX = "Not in tmux, so nothing can be typed; exit the agent at its terminal, then /resume it here."
const ENDED = "The session has ended; your message is delivered when it is resumed."

/** The daemon knows that what is shown is there, and as what. */
const isKnown = () =>
  expect.poll(() => phone.rows("select 1 from wait_notices where message_id is null"), SOON).toEqual([])

async function killed(whileDead?: () => unknown) {
  await phone.home.kill()
  await whileDead?.()
  await phone.home.run("start")
}

test("an undeliverable message is answered once with the reason and what to do, and the answer is updated on delivery", async () => {
  const { agent, thread } = await sitAt("shop", { outside: true })
  const first = write(thread, "count the stones")
  await expect.poll(() => shown(thread), SOON).toEqual([[`⏳ ${NOT_IN_TMUX}`, first]])
  expect(notices(thread)[0]).toMatchObject({ isSilent: true, buttons: [] })
  expect(marks(thread, first)).toEqual(["👀"])

  await isKnown()
  await killed()
  write(thread, "and the shells")
  const third = write(thread, "and the boats")
  const three = [[`⏳ 3 messages wait for this session. ${NOT_IN_TMUX}`, first]]
  await expect.poll(() => shown(thread), SOON).toEqual(three)
  await killed()

  const [id] = phone.rows<{ key: string }>("select key from deliveries where payload like '%and the shells%'")
  await phone.home.json("queue", "cancel", id!.key)
  const two = `⏳ Of 3 messages: 1 cancelled, 2 wait for this session. ${NOT_IN_TMUX}`
  await expect.poll(() => shown(thread), SOON).toEqual([[two, first]])

  // It ends while the daemon is dead: the old reason no longer applies.
  await killed(async () => {
    process.kill(agent.pid, "SIGTERM")
    await expect.poll(agent.isThere, SOON).toBe(false)
  })
  const over = `⏳ Of 3 messages: 1 cancelled, 2 wait for this session. ${ENDED}`
  await expect.poll(() => shown(thread), SOON).toEqual([[over, first]])
  expect(notices(thread)[0]!.buttons.flat()).toMatchObject([{ label: "Resume" }])

  // Somebody continues it in tmux.
  const native = phone.rows<{ id: string }>(`select native_id as id from sessions where platform = 'claude-code'`)[0]!
    .id
  const next = await phone.start("shop", { args: ["--resume", native] })
  await next.until((log) => log.filter(({ kind, text }) => kind === "prompt" && text.startsWith("and the")).length > 0)
  await expect.poll(() => shown(thread), SOON).toEqual([["Of 3 messages: 2 delivered, 1 cancelled.", first]])
  expect(notices(thread)[0]!.buttons).toEqual([])
  await expect.poll(() => marks(thread, third), SOON).toEqual(["👍"])
  expect(next.prompts().filter((text) => !text.startsWith("hello"))).toEqual(["count the stones", "and the boats"])
  // One message was sent for all of it.
  expect(telegram.accepted("sendMessage").filter(({ params }) => String(params.text).startsWith("⏳"))).toHaveLength(1)
}, 240_000)

test("a daemon that is killed between writing the notice down and sending it sends it once", async () => {
  const { thread } = await sitAt("yard", { outside: true })
  const mend = telegram.fault({ method: "sendMessage", trouble: { kind: "flood", retryS: 1 } })
  const id = write(thread, "are you there?")
  const rows = () => phone.rows(`select 1 from deliveries where key like 'telegram:waiting:%' and state = 'queued'`)
  await expect.poll(rows, SOON).toHaveLength(1)
  await killed(mend)
  await expect.poll(() => shown(thread), SOON).toEqual([[`⏳ ${NOT_IN_TMUX}`, id]])
  await isKnown()
  await killed()
  const later = write(thread, "hello?")
  await expect.poll(() => shown(thread), SOON).toEqual([[`⏳ 2 messages wait for this session. ${NOT_IN_TMUX}`, id]])
  expect(marks(thread, later)).toEqual(["👀"])
}, 240_000)

test("a message that is typed at once, or waits for a busy agent, gets a reaction and no text", async () => {
  const { agent, thread } = await sitAt("ship")
  const ids = [write(thread, "one\nSLOW 3000"), write(thread, "two")]
  await agent.until((log) => log.filter(({ kind }) => kind === "prompt").length === 3, 60_000)
  for (const id of ids) await expect.poll(() => marks(thread, id), SOON).toEqual(["👍"])
  await sleep(1_500)
  expect(notices(thread)).toEqual([])
}, 240_000)

test("one that ended offers to be resumed", async () => {
  const { agent, thread } = await sitAt("dock", { outside: true })
  process.kill(agent.pid, "SIGTERM")
  await expect.poll(agent.isThere, SOON).toBe(false)
  const id = write(thread, "anybody?")
  await expect.poll(() => shown(thread), SOON).toEqual([[`⏳ ${ENDED}`, id]])
  const [{ key }] = phone.rows<{ key: string }>("select key from deliveries where payload like '%anybody?%'") as [
    { key: string },
  ]
  await phone.home.json("queue", "cancel", key)
  await expect.poll(() => shown(thread), SOON).toEqual([["Cancelled.", id]])
}, 240_000)
