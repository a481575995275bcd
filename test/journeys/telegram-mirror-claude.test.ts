import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLAUDES } from "../fixtures/agents.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import { anthropicMessages, type ModelApi, startModelApi, steps, text, toolUse } from "../fixtures/model-api.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Person } from "../fixtures/telegram/person.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

const SOON_MS = 60_000

describe.each(CLAUDES)("the real Claude Code $version in a topic", ({ name }) => {
  let q: QueueHome
  let model: ModelApi
  let telegram: Telegram
  let ada: Person
  let room: Room
  let claude: ClaudeTerminal
  beforeAll(async () => {
    telegram = await startTelegram({ limits: false })
    ada = telegram.person("Ada")
    room = telegram.group("Work", { people: [ada] })
    q = await makeQueueHome(["web"], {
      THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
      THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
      THROUGHLINE_TELEGRAM_CHAT: String(room.id),
      THROUGHLINE_TELEGRAM_USERS: String(ada.id),
    })
    model = await startModelApi(anthropicMessages)
    writeFileSync(join(q.dirOf("web"), "stones.txt"), "three\n")
    claude = await startClaude(q, { which: name, team: "web", modelUrl: model.url })
  }, 240_000)
  afterAll(async () => {
    await claude?.end()
    await model?.close()
    await q?.dispose()
    await telegram?.close()
  })

  /** What the bot said, as it reads, without how long things took. */
  const said = () =>
    telegram
      .read(room)
      .filter(({ isBot, service }) => isBot && !service)
      .map(({ text, isSilent }) => `${isSilent ? "" : "🔔 "}${text.replace(/ in \d+ s/, "")}`)
  const isDone = (times: number) => () => said().filter((words) => words.includes("✅ done")).length >= times

  test("prompts from elsewhere, tools, the reply and the end of the turn are there in order; prompts from there are not echoed", async () => {
    const read = toolUse("Read", { file_path: join(q.dirOf("web"), "stones.txt") })
    const missing = toolUse("Read", { file_path: join(q.dirOf("web"), "none.txt") })
    model.script(steps([text("Let me look."), read], [missing], [text("There are **three** stones.")]))
    await q.send("web", "count the stones")
    await telegram.waitFor(isDone(1), SOON_MS, `done; it said ${JSON.stringify(said())}`)
    expect(said()).toEqual([
      "🧑‍💻 count the stones",
      "Let me look.",
      expect.stringMatching(/^📖 Read: stones\.txt\n📖 Read: none\.txt\n {3}✗ Read: .*not exist/),
      "There are three stones.",
      "🔔 ✅ done · 2 tools",
    ])
    const [topic] = telegram.topics(room)
    model.script(() => [text("Counted again.")])
    ada.write(room, "and once more", { thread: topic!.id })
    await telegram.waitFor(isDone(2), SOON_MS, "done again")
    expect(said().slice(5)).toEqual(["Counted again.", "🔔 ✅ done"])
  }, 240_000)

  test("a turn that the model's server broke off pings", async () => {
    model.script(() => {
      throw new Error("no")
    })
    await q.send("web", "break off")
    await telegram.waitFor(
      () => said().some((words) => words.startsWith("🔔 ❌")),
      SOON_MS,
      `❌; ${JSON.stringify(said())}`,
    )
    expect(said().at(-1)).toMatch(/^🔔 ❌ /)
  }, 240_000)
})
