import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram, TelegramOptions } from "../fixtures/telegram/telegram.ts"
import { openTerminal, type Terminal } from "../fixtures/terminal.ts"

let telegram: Telegram
let home: TestHome
let terminal: Terminal | undefined
afterEach(async () => {
  terminal?.end()
  terminal = undefined
  await home?.dispose()
  await telegram?.close()
})

async function begin(options: TelegramOptions = {}) {
  telegram = await startTelegram({ limits: false, ...options })
  home = makeHome({ THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot })
  const ada = telegram.person("Ada")
  return { ada, group: telegram.group("Work", { people: [ada] }), config: join(home.dir, "config.json") }
}

interface Answer {
  findings: { check: string; state: string; detail: string; remedy?: string }[]
  [key: string]: unknown
}

test("by flags: checked, written with owner-only permissions beside existing settings, tested; idempotent", async () => {
  const { ada, group, config } = await begin()
  await home.run("start")
  const mine = '{\n  // mine\n  "log": { "level": "debug" }\n}\n'
  writeFileSync(config, mine, { mode: 0o644 })
  const args = ["telegram", "setup", "--chat", String(group.id), "--user", String(ada.id)]
  const first = await home.json<Answer>(...args, "--token", telegram.token)
  expect(first).toMatchObject({
    bot: { username: "throughline_bot" },
    chat: { id: String(group.id), title: "Work" },
    users: [String(ada.id)],
    changed: true,
    test: { ok: true },
  })
  expect(first.findings.map(({ state }) => state)).toEqual(first.findings.map(() => "good"))
  expect(telegram.read(group, null).at(-1)!.text).toMatch(/^Throughline on .+ can write here/)
  expect(telegram.topics(group)).toEqual([])

  const text = readFileSync(config, "utf8")
  expect(text).toContain("// mine")
  expect(text).toContain(telegram.token)
  expect(statSync(config).mode & 0o777).toBe(0o600)
  expect(JSON.stringify(first)).not.toContain(telegram.token)

  const again = await home.json<Answer>(...args, "--yes")
  expect(again).toMatchObject({ changed: false })
  expect(readFileSync(config, "utf8")).toBe(text)

  const { stdout: shown } = await home.run("config")
  expect(shown).not.toContain(telegram.token)
  const { stdout: log } = await home.run("logs", "--json")
  expect(log).not.toContain(telegram.token)
})

test("status, test, users, pair and doctor show the state, and what to do about it", async () => {
  const { group } = await begin()
  expect((await home.run("telegram", "status")).stdout).toContain("Telegram is not set up")
  expect(await home.run("telegram", "test")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("telegram setup"),
  })
  await home.json("telegram", "setup", "--token", telegram.token, "--chat", String(group.id))
  const status = await home.run("telegram", "status")
  expect(status.stdout).toMatch(/bot {5}@throughline_bot: /)
  expect(status.stdout).toMatch(/chat {4}Work \(-100\d+\): topics, may manage topics, may delete messages/)
  expect(status.stdout).toContain("nobody has access yet")
  expect((await home.run("status")).stdout).toMatch(/phone {3}bot \d+: /)
  expect((await home.run("telegram", "users")).stdout).toContain("Nobody yet")

  const { code, expiresAt } = await home.json<{ code: string; expiresAt: string }>("telegram", "pair")
  expect(code).toMatch(/^[A-Z2-9]{8}$/)
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(9 * 60_000)
  const agent = await home.run("telegram", "users", "remove", "7")
  expect(agent).toMatchObject({ code: 2, stderr: expect.stringContaining("userId 7") })

  telegram.setMember(group, telegram.bot(), "administrator", { can_manage_topics: false })
  const doctor = await home
    .json<Answer>("doctor")
    .catch((error: Error) => JSON.parse(error.message.replace(/^.*?{/s, "{")))
  const found = (check: string) => (doctor as Answer).findings.find((finding) => finding.check === `telegram ${check}`)
  expect(found("bot")).toMatchObject({ state: "good" })
  expect(found("group")).toMatchObject({ state: "good", detail: "Work, with topics" })
  expect(found("rights")).toMatchObject({ state: "wrong", remedy: expect.stringContaining("Manage Topics") })
  expect(found("privacy")).toMatchObject({ state: "good" })
  expect(found("clock")).toMatchObject({ state: "good" })
  expect(found("tmux")).toMatchObject({ state: "good" })
  expect(found("people")).toMatchObject({ state: "warning", remedy: expect.stringContaining("telegram pair") })

  const test = await home.run("telegram", "test")
  expect(test.stdout).toMatch(/ok {4}a message: .*\nFAIL {2}a topic: .*not enough rights/)
  telegram.bot().isRevoked = true
  await home.run("stop")
  const broken = await home.run("doctor")
  expect(broken.stderr).toBe("")
  expect(broken.code).toBe(1)
  expect(broken.stdout).toMatch(/FAIL {2}telegram bot .*token/)
})

test("an agent's shell may neither pair nor remove", async () => {
  const { group } = await begin()
  await home.json("telegram", "setup", "--token", telegram.token, "--chat", String(group.id))
  home.env.CLAUDECODE = "1"
  expect(await home.run("telegram", "pair")).toMatchObject({ code: 4 })
  expect(await home.run("telegram", "users", "remove", "7")).toMatchObject({ code: 4 })
})

test("an error names its field, says what to do, and nothing is written", async () => {
  const { group, config } = await begin()
  const strangers = telegram.group("Strangers", { bots: [] })
  const refused = async (...args: string[]) => {
    const { code, stdout } = await home.run("telegram", "setup", "--json", ...args)
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } }
    expect(stdout).not.toContain(telegram.token)
    expect(code).not.toBe(0)
    return `${error.code}: ${error.message}`
  }
  const chat = String(group.id)
  const { token } = telegram
  expect(await refused()).toMatch(/^bad_input: token is missing: .*--token.*@BotFather/)
  expect(await refused("--token", "secret-that-is-none")).toBe(
    "bad_input: token must look like 123456:ABC…, as given by @BotFather",
  )
  expect(await refused("--token", `${token}zzz`, "--chat", chat)).toMatch(
    /^bad_input: Telegram does not know this token/,
  )
  expect(await refused("--token", token)).toMatch(/^bad_input: chat is missing: .*--private/)
  expect(await refused("--token", token, "--chat", "work")).toMatch(/^bad_input: chat must be the number of a group/)
  expect(await refused("--token", token, "--chat", chat, "--user", "ada")).toMatch(
    /^bad_input: user must be the number/,
  )
  expect(await refused("--token", token, "--chat", chat, "--private")).toMatch(/^bad_input: chat and private/)
  expect(await refused("--token", token, "--chat", String(strangers.id))).toMatch(/^channel_failed: .*not in the group/)
  expect((await home.run("telegram", "setup")).stderr).toMatch(/no terminal to ask on: pass --yes/)
  expect(() => statSync(config)).toThrow()
  await telegram.close()
  expect(await refused("--token", token, "--chat", chat)).toMatch(/^channel_failed: .*nothing listens there/)
})

test("a bot without rights is saved anyway, and the missing rights are listed with their remedy", async () => {
  const { ada } = await begin({ bots: [{ username: "a_bot", privacy: true }] })
  const group = telegram.group("Plain", { people: [ada], isForum: false })
  telegram.setMember(group, telegram.bot(), "member")
  const { code, stdout } = await home.run(
    "telegram",
    "setup",
    "--json",
    "--token",
    telegram.token,
    "--chat",
    String(group.id),
  )
  const { findings } = JSON.parse(stdout) as Answer
  expect(code).toBe(1)
  expect(findings.filter(({ state }) => state === "wrong").map(({ check, remedy }) => `${check}: ${remedy}`)).toEqual([
    "group: In Telegram, open Plain → Edit → Topics → turn them on.",
    "rights: In Telegram, open Plain → Edit → Administrators → Add Admin → @a_bot, with Manage Topics and Delete Messages.",
    "privacy: In Telegram, @BotFather: /setprivacy → @a_bot → Disable. Then remove the bot from the group and add it again.",
  ])
})

test("topics in the private chat: no group is needed, and Threaded Mode is requested if it is off", async () => {
  const { ada } = await begin({ bots: [{ username: "a_bot", topicsInPrivate: true }, { username: "b_bot" }] })
  ada.write(ada.chatWith(telegram.bot("a_bot")), "/start")
  const args = ["telegram", "setup", "--json", "--private", "--user", String(ada.id), "--token"]
  const { code, stdout } = await home.run(...args, telegram.bot("a_bot").token)
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { test: { ok: true } }])
  const other = await home.run(...args, telegram.bot("b_bot").token)
  const { findings } = JSON.parse(other.stdout) as Answer
  expect(findings.find(({ check }) => check === "topics")).toMatchObject({
    state: "wrong",
    remedy: expect.stringContaining("Threaded Mode"),
  })
})

test("at a terminal: the token is not shown, the group is detected, and rights are requested until they are granted", async () => {
  const { ada, group } = await begin()
  telegram.setMember(group, telegram.bot(), "administrator", { can_delete_messages: true })
  terminal = openTerminal(home, { cwd: home.env.HOME!, columns: 110, rows: 50 })
  terminal.run(`throughline telegram setup --user ${ada.id}`)
  await terminal.shows("@BotFather")
  terminal.type("nonsense")
  terminal.key("Enter")
  await terminal.shows("It must look like")
  for (const _ of "nonsense") terminal.key("BSpace")
  terminal.type(telegram.token)
  terminal.key("Enter")
  await terminal.shows("This is @throughline_bot")
  await terminal.shows("Where should sessions appear?")
  terminal.key("Enter")
  await terminal.shows("Waiting for it")
  ada.write(group, "/start@throughline_bot")
  await terminal.shows('Is it the group "Work"?')
  terminal.key("Enter")
  await terminal.shows("lacks Manage Topics")
  telegram.setMember(group, telegram.bot(), "administrator")
  terminal.key("Enter")
  await terminal.shows("@throughline_bot is set up in Work")
  expect(terminal.lines().join("\n")).not.toContain(telegram.token.split(":")[1])
  expect(await terminal.exitCode()).toBe(0)
  expect(telegram.read(group, null).some(({ text }) => text.includes("can write here"))).toBe(true)
  // What was written to the bot meanwhile was left to the daemon.
  await telegram.waitFor(
    () => telegram.read(group, null).some(({ text }) => text.includes("/help")),
    15_000,
    "an answer",
  )
}, 240_000)

test("at a terminal: the sender of the code gets access, and the wizard continues; then doctor reports nothing", async () => {
  const { ada, group } = await begin()
  terminal = openTerminal(home, { cwd: home.env.HOME!, columns: 110, rows: 50 })
  terminal.run(`throughline telegram setup --token ${telegram.token} --chat ${group.id}`)
  await terminal.shows(/Send this to @throughline_bot/)
  const code = await telegram.waitFor(() => /^ {4}([A-Z2-9]{8})$/m.exec(terminal!.lines().join("\n"))?.[1])
  ada.write(ada.chatWith(telegram.bot()), code)
  await terminal.shows("Paired.")
  await terminal.shows("is set up in Work")
  expect(await terminal.exitCode()).toBe(0)
  const { users } = await home.json<{ users: { userId: string; name: string }[] }>("telegram", "users")
  expect(users).toMatchObject([{ userId: String(ada.id), name: "Ada" }])
  expect((await home.run("status")).stdout).toMatch(/phone {3}bot \d+: listening since /)
  const { findings } = await home.json<Answer>("doctor")
  const ours = findings.filter(({ check }) => check.startsWith("telegram"))
  expect(ours.map(({ check, state }) => `${check}: ${state}`)).toEqual(ours.map(({ check }) => `${check}: good`))
  expect(ours.map(({ check }) => check.replace("telegram ", ""))).toEqual([
    ...["bot", "clock", "group", "rights", "privacy", "tmux", "listening", "people"],
  ])
  await home.json("telegram", "users", "remove", String(ada.id))
  expect((await home.run("telegram", "users")).stdout).toContain("Nobody yet")
}, 240_000)
