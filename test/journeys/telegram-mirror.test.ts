import { randomUUID } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { makeFiles } from "../fixtures/fake-agent-files.ts"
import { runHook, spooled } from "../fixtures/hooks.ts"
import type { Person } from "../fixtures/telegram/person.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram, TelegramOptions } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

let telegram: Telegram
let ada: Person
let home: TestHome
let room: Room
afterEach(async () => {
  await home.dispose()
  await telegram.close()
})

async function stage(options: TelegramOptions, roomOf: () => Room, settings: Record<string, string> = {}) {
  telegram = await startTelegram(options)
  ada = telegram.person("Ada")
  room = roomOf()
  home = makeHome({
    THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
    THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
    THROUGHLINE_TELEGRAM_CHAT: String(room.id),
    ...settings,
  })
  await home.json("setup", "claude-code", "--yes")
}

/** A session of Claude Code as its files and hooks tell of it. */
function agent() {
  const cwd = join(home.env.HOME!, "shop")
  mkdirSync(cwd, { recursive: true })
  const files = makeFiles({ configDir: join(home.env.HOME!, ".claude"), cwd, logPath: join(home.env.HOME!, "log") })
  const session = randomUUID()
  files.begin(session)
  const hook = (hook_event_name: string, more: object = {}) =>
    runHook(
      home,
      { hook_event_name, session_id: session, cwd, transcript_path: files.transcriptOf(session), ...more },
      { env: { CLAUDE_CODE_ENTRYPOINT: "cli", CLAUDE_PID: String(process.pid) } },
    )
  return {
    hook,
    files,
    session,
    async prompts(text: string) {
      files.prompt(session, randomUUID(), text)
      return hook("UserPromptSubmit", { prompt: text })
    },
    async uses(id: string, command: string, tool_response: unknown = "ok") {
      files.tool(session, id, command)
      return hook("PostToolUse", { tool_name: "Bash", tool_use_id: id, tool_response })
    },
    async replies(text: string) {
      files.reply(session, text)
      return hook("Stop", { last_assistant_message: text, stop_hook_active: false })
    },
  }
}

const posts = (thread?: number): Seen[] => telegram.read(room, thread).filter(({ service, isBot }) => isBot && !service)
const range = (count: number) => Array.from({ length: count }, (_, index) => index)
/** The commands of all tool lines that can be read in a topic: in the progress message, and in the file of what left it. */
const commandsIn = (text: string) => [...text.matchAll(/Bash: step (\d+)$/gm)].map(([, number]) => Number(number))

describe("while the daemon is down", () => {
  beforeEach(() => stage({}, () => telegram.group("Work", { people: [ada] })))

  test("200 spooled events, one of 3 MB, are shown in order within 30 seconds of its start", async () => {
    const one = agent()
    const hooks = [await one.prompts("Build it")]
    for (const number of range(198))
      hooks.push(await one.uses(`c${number}`, `step ${number}`, number === 99 ? "x".repeat(3_000_000) : "ok"))
    hooks.push(await one.replies("**Built.**"))
    expect(hooks.every(({ code, output }) => code === 0 && output === "")).toBe(true)
    expect(spooled(home)).toHaveLength(200)
    const beganMs = Date.now()
    await home.run("start")
    await telegram.waitFor(() => posts().some(({ text }) => text.includes("done in")), 60_000, "done")
    await telegram.waitFor(() => new Set(posts().flatMap(allCommands)).size === 198, 60_000, "198 tools")
    const tookMs = Date.now() - beganMs
    expect(tookMs).toBeLessThan(30_000)
    const [topic, ...others] = telegram.topics(room)
    expect(others).toEqual([])
    expect(topic!.name).toMatch(/ • shop • Build it$/)
    const said = posts()
    const whole = said.map(({ text, file }) => `${text}\n${file?.bytes.toString() ?? ""}`).join("\n")
    for (const message of said) {
      const numbers = allCommands(message)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    }
    expect([...new Set(commandsIn(whole))].toSorted((a, b) => a - b)).toEqual(range(198))
    const order = ["Build it", "Built.", "done in"].map((words) => whole.indexOf(words))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order).not.toContain(-1)
    expect(said.filter(({ isSilent }) => !isSilent).map(({ text }) => text)).toEqual([
      expect.stringContaining("done in"),
    ])
    expect(telegram.ignoredWaits).toEqual([])
  }, 240_000)
  const allCommands = ({ text, file }: Seen) => commandsIn(`${text}\n${file?.bytes.toString() ?? ""}`)
})

describe("while the daemon runs", () => {
  test("a reply and that it is done are on the phone within two seconds of the hook", async () => {
    const bots = [{ username: "throughline_bot", topicsInPrivate: true }]
    await stage({ limits: false, bots }, () => ada.chatWith(telegram.bot()))
    await home.run("start")
    const one = agent()
    await one.hook("SessionStart", { source: "startup" })
    await one.prompts("Begin")
    await telegram.waitFor(() => posts().length > 0, 60_000, "the first message")
    const tookMs: number[] = []
    for (const number of range(12)) {
      await sleep(2_200)
      const beganMs = Date.now()
      const before = posts().filter(({ text }) => text.includes("✅ done")).length
      await one.replies(`Reply ${number}`)
      await telegram.waitFor(() => posts().some(({ text }) => text.includes(`Reply ${number}`)), 60_000, "the reply")
      tookMs.push(Date.now() - beganMs)
      await telegram.waitFor(
        () => posts().filter(({ text }) => text.includes("✅ done")).length > before,
        10_000,
        "done",
      )
      tookMs.push(Date.now() - beganMs)
    }
    const said = posts().map(({ text }) => text.replace(/ in .*/, ""))
    expect(said.slice(1)).toEqual(range(12).flatMap((number) => [`Reply ${number}`, "✅ done"]))
    const p95 = tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.95)]!
    expect(p95, `took ${tookMs.join(", ")} ms`).toBeLessThanOrEqual(2_000)
    expect(telegram.topics(room)).toHaveLength(1)
  }, 240_000)

  test("a session that is closed has its topic archived, and one that comes back has it opened again", async () => {
    await stage({ limits: false }, () => telegram.group("Work", { people: [ada] }))
    await home.run("start")
    const one = agent()
    await one.hook("SessionStart", { source: "startup" })
    await one.prompts("Begin")
    await one.replies("Here.")
    await telegram.waitFor(() => posts().some(({ text }) => text.includes("done")), 60_000, "done")
    await one.hook("SessionEnd", { reason: "prompt_input_exit" })
    const topic = telegram.topics(room)[0]!
    await telegram.waitFor(() => topic.isClosed, 60_000, "the topic to be closed")
    expect(topic.name).toMatch(/^✓ .* • shop • Begin$/)
    await one.hook("SessionStart", { source: "resume" })
    await one.prompts("Go on")
    await telegram.waitFor(() => posts().some(({ text }) => text.includes("Go on")), 60_000, "the prompt")
    expect(topic.isClosed).toBe(false)
    expect(telegram.topics(room)).toHaveLength(1)
  }, 240_000)
})
