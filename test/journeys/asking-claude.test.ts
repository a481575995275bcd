import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { processStart } from "../../src/daemon/process/process-identity.ts"
import type { PermissionView } from "../../src/operations/permissions.ts"
import { CLAUDES } from "../fixtures/agents.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import {
  anthropicMessages,
  type Block,
  type ModelApi,
  startModelApi,
  text,
  toolUse,
  wordsOf,
} from "../fixtures/model-api.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"

const SOON = { timeout: 60_000, interval: 50 }
const SERVER = fileURLToPath(new URL("../fixtures/mcp-asker.ts", import.meta.url))

describe.each(CLAUDES)("the real Claude Code $version asks where its person is", ({ name }) => {
  let q: QueueHome
  let model: ModelApi
  let terminal: ClaudeTerminal
  let telegram: Telegram
  let ada: ReturnType<Telegram["person"]>
  let group: ReturnType<Telegram["group"]>
  beforeAll(async () => {
    telegram = await startTelegram({ limits: false })
    ada = telegram.person("Ada")
    group = telegram.group("Work", { people: [ada] })
    q = await makeQueueHome(["web"], {
      THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
      THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
      THROUGHLINE_TELEGRAM_CHAT: String(group.id),
      THROUGHLINE_TELEGRAM_USERS: String(ada.id),
      // What is said would use up what may be sent in a minute.
      THROUGHLINE_TELEGRAM_VERBOSITY: "quiet",
    })
    model = await startModelApi(anthropicMessages)
    const state = join(q.home.env.HOME!, ".claude.json")
    const before = JSON.parse(readFileSync(state, "utf8"))
    before.mcpServers.asker = { type: "stdio", command: process.execPath, args: ["--no-warnings", SERVER] }
    writeFileSync(state, JSON.stringify(before))
    terminal = await startClaude(q, { which: name, team: "web", modelUrl: model.url })
  }, 240_000)
  afterAll(async () => {
    await terminal?.end()
    // It writes for some moments more.
    while (terminal && processStart(terminal.pid) !== undefined) await sleep(50)
    await model.close()
    await q.dispose()
    await telegram.close()
  })

  const list = async (all = false) =>
    (await q.call<{ permissions: PermissionView[] }>("permissions.list", { all })).permissions
  const recent = async (id: string) => (await list(true)).find((one) => one.id === id)!
  const answer = (id: string, word: string, more: object = {}) =>
    q.call<{ accepted: boolean; permission: PermissionView }>("permissions.answer", { id, answer: word, ...more })
  const results = () =>
    model.requests
      .at(-1)!
      .toolResults.map(({ content }) => wordsOf(content))
      .join("\n")
  let nth = 0

  /** The model uses the tools one after another; returns when the first of them needs approval. */
  async function asked(...uses: [string, Record<string, unknown>][]) {
    // A test that failed may have left a dialog.
    if ((await terminal.live())?.status !== "idle") terminal.key("Escape")
    await isOver()
    const stone = `stone-${++nth}`
    const plan: Block[][] = [...uses.map(([tool, input]) => [toolUse(tool, input)]), [text(`over ${stone}`)]]
    let at = 0
    model.script(() => plan[Math.min(at++, plan.length - 1)]!)
    const before = (await list()).map(({ id }) => id)
    await q.send("web", `Do ${stone}`)
    let found: PermissionView | undefined
    await expect.poll(async () => (found = (await list()).find(({ id }) => !before.includes(id))), SOON).toBeDefined()
    return found!
  }
  const isOver = () => expect.poll(async () => (await terminal.live())?.status, SOON).toBe("idle")
  const isShown = () => expect.poll(async () => (await terminal.live())?.status, SOON).toBe("waiting")
  const file = (path: string) => join(q.dirOf("web"), path)

  test("allows a command from elsewhere, and it runs", async () => {
    const { id, ...view } = await asked(["Bash", { command: "touch one", description: "Make one" }])
    expect(view).toMatchObject({ tool: "Bash", title: "Bash: Make one", input: { command: "touch one" }, team: "web" })
    await isShown()
    await expect.poll(() => terminal.screen(), SOON).toMatch(/Do you want to proceed/)
    const began = performance.now()
    expect((await answer(id, "allow")).accepted).toBe(true)
    await expect.poll(() => existsSync(file("one")), SOON).toBe(true)
    expect(performance.now() - began).toBeLessThan(20_000)
    await isOver()
  }, 240_000)

  test("is denied with the reason, which its model reads", async () => {
    const { id } = await asked(["Bash", { command: "touch two" }])
    await answer(id, "deny", { reason: "not on a Friday" })
    await isOver()
    expect(results()).toContain("Denied by the owner: not on a Friday")
    expect(existsSync(file("two"))).toBe(false)
  }, 240_000)

  test("is denied so that its turn ends", async () => {
    const { id } = await asked(["Bash", { command: "touch halted" }])
    await answer(id, "deny", { stop: true })
    await isOver()
    expect(model.requests.some(({ body }) => wordsOf(body.messages).includes(`over stone-${nth}`))).toBe(false)
    expect(existsSync(file("halted"))).toBe(false)
  }, 240_000)

  test("always echoes exactly the one rule that was offered, and the session's mode stays", async () => {
    const outside = join(q.home.env.HOME!, "outside")
    const write = (path: string) => ["Write", { file_path: path, content: "x" }] as [string, Record<string, unknown>]
    const { id, suggestions } = await asked(write(join(outside, "a")), write(join(outside, "b")))
    expect(suggestions.length).toBeGreaterThan(1)
    const which = suggestions.findIndex((label) => !label.startsWith("permission mode")) + 1
    expect(which).toBeGreaterThan(0)
    await answer(id, "always", { which })
    let second: PermissionView | undefined
    await expect.poll(async () => (second = (await list())[0]), SOON).toBeDefined()
    expect(second!.suggestions, "the folder is known now, and the mode is as it was").not.toContain(
      suggestions[which - 1],
    )
    expect(second!.suggestions.some((label) => label.startsWith("permission mode"))).toBe(true)
    await answer(second!.id, "allow")
    await isOver()
    expect(existsSync(join(outside, "b"))).toBe(true)
  }, 240_000)

  test("always for a command writes that rule, and the command needs no approval again", async () => {
    const use: [string, Record<string, unknown>] = ["Bash", { command: "npm view left-pad --offline" }]
    const { id, suggestions } = await asked(use, use)
    const which = suggestions.findIndex((label) => label.includes("Bash(")) + 1
    expect(suggestions.join(), "rules are offered").toContain("Bash(")
    await answer(id, "always", { which })
    await isOver()
    expect(await list()).toEqual([])
    const rules = JSON.parse(readFileSync(file(".claude/settings.local.json"), "utf8")).permissions
    expect(rules.allow).toHaveLength(1)
    expect(suggestions[which - 1]).toBe(`allow ${rules.allow[0]} (localSettings)`)
  }, 240_000)

  test.each<[string, string, Record<string, unknown>, () => unknown]>([
    ["an edit", "Write", { file_path: "made.txt", content: "made" }, () => readFileSync(file("made.txt"), "utf8")],
    ["a tool of an MCP server", "mcp__asker__note", {}, () => results()],
    ["a fetch", "WebFetch", { url: "https://example.invalid/", prompt: "read" }, () => results()],
  ])(
    "relays %s",
    async (_, tool, input, proof) => {
      const path = input.file_path ? { file_path: file(String(input.file_path)) } : {}
      const permission = await asked([tool, { ...input, ...path }])
      expect(permission.tool).toBe(tool)
      await isShown()
      expect((await answer(permission.id, "allow")).accepted).toBe(true)
      await isOver()
      expect(proof()).toBeTruthy()
      expect(await recent(permission.id)).toMatchObject({ state: "allowed" })
    },
    60_000,
  )

  test("questions are answered with options and own words, which its model reads", async () => {
    const options = (...labels: string[]) => labels.map((label) => ({ label, description: `the ${label} one` }))
    const questions = [
      { question: "Which colour?", header: "Colour", options: options("red", "blue"), multiSelect: false },
      { question: "Which days?", header: "Days", options: options("Mon", "Tue", "Wed"), multiSelect: true },
      { question: "Which way?", header: "Way", options: options("up", "down"), multiSelect: false },
    ]
    const permission = await asked(["AskUserQuestion", { questions }])
    expect(permission.questions.map(({ text }) => text)).toEqual(["Which colour?", "Which days?", "Which way?"])
    await isShown()
    await answer(permission.id, "answer", { with: ["2", "1,Wed", "sideways"] })
    await isOver()
    expect(results()).toMatch(/"Which colour\?"="blue".*"Which days\?"="Mon, Wed".*"Which way\?"="sideways"/s)
  }, 240_000)

  const approvalOf = (id: string) => telegram.read(group).find(({ buttons }) => JSON.stringify(buttons).includes(id))
  const labels = (id: string) => (approvalOf(id)?.buttons ?? []).flat().map(({ label }) => label)
  /** Presses the button of this label, once the approval request shows it. */
  const press = async (id: string, label: string) => {
    await expect.poll(() => labels(id), SOON).toContain(label)
    const pressed = ada.press(group, approvalOf(id)!.id, label)
    await expect.poll(() => pressed.answer(), SOON).toBeDefined()
    return pressed.answer()!
  }

  test("a command is allowed by a button, and the approval request says by whom", async () => {
    const { id } = await asked(["Bash", { command: "touch tapped" }])
    await expect.poll(() => approvalOf(id), SOON).toBeDefined()
    const { id: messageId } = approvalOf(id)!
    expect(await press(id, "✅ Allow")).toMatchObject({ text: "Allowed." })
    await expect.poll(() => existsSync(file("tapped")), SOON).toBe(true)
    const approval = (): Seen => telegram.read(group).find((one) => one.id === messageId)!
    await expect.poll(() => approval().text, SOON).toMatch(/^✅ Allowed by Ada/)
    expect(approval().buttons).toEqual([])
    await isOver()
  }, 240_000)

  test("questions are answered one after another on one approval request, by buttons and by a reply", async () => {
    const options = (...names: string[]) => names.map((label) => ({ label, description: `the ${label} one` }))
    const questions = [
      { question: "Which colour?", header: "Colour", options: options("red", "blue"), multiSelect: false },
      { question: "Which days?", header: "Days", options: options("Mon", "Tue", "Wed"), multiSelect: true },
      { question: "Which way?", header: "Way", options: options("up", "down"), multiSelect: false },
    ]
    const { id } = await asked(["AskUserQuestion", { questions }])
    await press(id, "blue")
    await press(id, "◻️ Mon")
    await press(id, "◻️ Tue")
    await press(id, "◻️ Wed")
    await press(id, "☑️ Tue")
    await press(id, "Done")
    await expect.poll(() => labels(id), SOON).toContain("up")
    const approval = approvalOf(id)!
    expect(approval.text).toMatch(/Which colour\?\n→ blue.*Which days\?\n→ Mon, Wed.*Which way\?\n• up/s)
    ada.write(group, "sideways, please", { thread: approval.thread, replyTo: approval.id })
    await isOver()
    expect(results()).toMatch(/"Which colour\?"="blue".*"Which days\?"="Mon, Wed".*"Which way\?"="sideways, please"/s)
  }, 240_000)

  test("a tool server's question is answered in the form of its schema", async () => {
    const tool: [string, Record<string, unknown>] = ["mcp__asker__choose", {}]
    const first = await asked(tool)
    await answer(first.id, "allow")
    let second: PermissionView | undefined
    await expect.poll(async () => (second = (await list()).find(({ id }) => id !== first.id)), SOON).toBeDefined()
    expect(second!.asker, "its dialog comes after the hook").toMatch(/nothing of it is on the screen/)
    expect(second).toMatchObject({ tool: "asker", title: "Which colour?" })
    expect(await answer(second!.id, "answer", { with: ["blue", "yes"] })).toMatchObject({ accepted: true })
    await isOver().catch(async (cause: unknown) => {
      throw new Error(await terminal.screen(), { cause })
    })
    expect(results()).toContain('{"action":"accept","content":{"colour":"blue","isSure":true}}')
  }, 240_000)

  test("answered at the terminal first, the question is marked stale within three seconds", async () => {
    const permission = await asked(["Bash", { command: "sleep 4; touch here" }])
    await isShown()
    await sleep(1_000)
    const began = performance.now()
    terminal.key("Enter")
    await expect.poll(async () => (await recent(permission.id)).state, SOON).toBe("stale")
    expect(performance.now() - began).toBeLessThan(20_000)
    const late = await answer(permission.id, "deny")
    expect(late).toMatchObject({ accepted: false, permission: { state: "stale", reason: "answered at the terminal" } })
    await isOver()
    expect(existsSync(file("here"))).toBe(true)
  }, 240_000)

  test("Esc at the terminal, which no hook reports, makes it stale too", async () => {
    const permission = await asked(["Bash", { command: "touch never" }])
    await isShown()
    // A dialog that has just opened may not take the first one.
    await expect
      .poll(
        async () => {
          await sleep(500)
          const isOpen = /Do you want to proceed/.test(await terminal.screen())
          if (isOpen) terminal.key("Escape")
          return isOpen
        },
        { timeout: 60_000, interval: 100 },
      )
      .toBe(false)
    const began = performance.now()
    await expect.poll(async () => (await recent(permission.id)).state, SOON).toBe("stale")
    expect(performance.now() - began).toBeLessThan(20_000)
    await isOver()
  }, 240_000)

  test("the daemon is killed while it waits: the same question is answered after it, and it has effect", async () => {
    const permission = await asked(["Bash", { command: "touch survived" }])
    await expect.poll(() => terminal.screen(), SOON).toMatch(/Do you want to proceed/)
    await q.home.kill()
    expect(await terminal.screen(), "its own dialog stays").toMatch(/Do you want to proceed/)
    expect(existsSync(file("survived"))).toBe(false)
    await q.home.run("start")
    expect((await answer(permission.id, "allow")).accepted).toBe(true)
    await expect.poll(() => existsSync(file("survived")), SOON).toBe(true)
    await isOver()
  }, 240_000)

  test("a plan is accepted, and plan mode is left", async () => {
    await terminal.end()
    terminal = await startClaude(q, { which: name, team: "web", modelUrl: model.url, permissionMode: "plan" })
    const permission = await asked(["ExitPlanMode", { plan: "1. Do it" }], ["Bash", { command: "touch planned" }])
    expect(permission.tool).toBe("ExitPlanMode")
    await answer(permission.id, "allow")
    let next: PermissionView | undefined
    await expect.poll(async () => (next = (await list()).find(({ id }) => id !== permission.id)), SOON).toBeDefined()
    expect(next).toMatchObject({ tool: "Bash" })
    await answer(next!.id, "allow")
    await expect.poll(() => existsSync(file("planned")), SOON).toBe(true)
  }, 240_000)
})
