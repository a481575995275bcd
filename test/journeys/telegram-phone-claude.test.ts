import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { agents } from "../fixtures/agents.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import { anthropicMessages, type ModelApi, startModelApi, text } from "../fixtures/model-api.ts"
import { makePhoneHome, type PhoneHome } from "../fixtures/phone.ts"
import type { Person } from "../fixtures/telegram/person.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

const WHICH = "claude-new"
const SOON_MS = 60_000

let telegram: Telegram
let ada: Person
let group: Room
let model: ModelApi
let phone: PhoneHome
let claude: ClaudeTerminal
beforeAll(async () => {
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
  model = await startModelApi(anthropicMessages)
  // What is started from the phone has the daemon's own environment.
  const settings = {
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "sk-ant-dummy-key-of-the-tests",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  }
  phone = await makePhoneHome({ telegram, group, people: [ada], teams: ["web"], settings })
  const teams = { web: { project: phone.dirOf("web"), program: agents.claude(WHICH) } }
  writeFileSync(join(phone.home.dir, "config.json"), JSON.stringify({ teams }))
  claude = await startClaude(phone, { which: WHICH, team: "web", modelUrl: model.url })
}, 240_000)
afterAll(async () => {
  await claude?.end().catch(() => {})
  await phone?.dispose()
  await model?.close()
  await telegram?.close()
})

const said = (words: string) => () => telegram.read(group).some(({ isBot, text }) => isBot && text.includes(words))

test("the real Claude Code ends, its messages are queued, and Resume continues it with them", async () => {
  model.script(() => [text("The code word is heron.")])
  await phone.send("web", "what is the code word?")
  await telegram.waitFor(said("The code word is heron."), SOON_MS, "the reply")
  const [topic] = telegram.topics(group)
  await claude.end()
  await expect.poll(() => claude.live(), { timeout: SOON_MS }).toBeUndefined()
  const { id } = ada.write(group, "say it again", { thread: topic!.id })
  const offer = () => telegram.read(group).find(({ buttons }) => buttons.flat().some(({ label }) => label === "Resume"))
  const { id: offered } = await telegram.waitFor(offer, SOON_MS, "the offer to resume")
  model.script(() => [text("Heron, as before.")])
  const press = ada.press(group, offered, "Resume")
  expect(await telegram.waitFor(() => press.answer(), SOON_MS, "the press's answer")).toMatchObject({
    text: "The session continues.",
  })
  await telegram.waitFor(said("Heron, as before."), SOON_MS, "the reply after it")
  const mark = () => telegram.read(group).find((message) => message.id === id)?.reactions[0]?.emoji === "👍"
  await telegram.waitFor(mark, SOON_MS, "the mark")
  expect(telegram.topics(group)).toHaveLength(1)
}, 240_000)
