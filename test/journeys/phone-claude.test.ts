import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLAUDES } from "../fixtures/agents.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import { anthropicMessages, type Block, type ModelApi, startModelApi, text, toolUse } from "../fixtures/model-api.ts"
import { makePocket, type Pocket, SOON } from "../fixtures/pocket.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { proves } from "../promises.ts"

const VIEW = "npm view left-pad --offline"
const [{ name, version }] = CLAUDES.slice(0, 1) as [(typeof CLAUDES)[0]]

describe(`the real Claude Code ${version} in somebody's pocket`, () => {
  let pocket: Pocket
  let q: QueueHome
  let model: ModelApi
  let claude: ClaudeTerminal
  let thread: number
  beforeAll(async () => {
    pocket = await makePocket()
    q = await makeQueueHome(["shop"], { THROUGHLINE_TELEGRAM_API_ROOT: pocket.apiRoot })
    const args = ["telegram", "setup", "--chat", String(pocket.group), "--user", String(pocket.ada)]
    await q.home.json(...args, "--token", pocket.token)
    model = await startModelApi(anthropicMessages)
    claude = await startClaude(q, { which: name, team: "shop", modelUrl: model.url })
  }, 240_000)
  afterAll(async () => {
    await claude?.end()
    await model?.close()
    await q?.dispose()
    await pocket?.close()
  })

  const file = (path: string) => join(q.dirOf("shop"), path)
  const isIdle = () => expect.poll(async () => (await claude.live())?.status, SOON).toBe("idle")
  const plays = (...plan: Block[][]) => {
    let at = 0
    model.script(() => plan[Math.min(at++, plan.length - 1)]!)
  }
  const bash = (command: string) => [toolUse("Bash", { command, description: `Make ${command.split(" ")[1]}` })]
  const asked = async (command: string) => {
    await isIdle()
    plays(bash(command), [text(`Over with ${command}.`)])
    await pocket.write(`Do it: ${command.split(" ")[1]}`, { thread })
    const isApproval = ({ text: words, buttons }: Seen) => words.includes(command) && buttons.length > 0
    return pocket.until(thread, isApproval, `the approval of ${command}`)
  }

  test("prompts and replies at the terminal are one topic; a text from the phone is submitted once", async () => {
    plays([text("There are **three** stones.")])
    await claude.type("Count the stones")
    await expect.poll(pocket.topics, SOON).toHaveLength(1)
    thread = (await pocket.topics())[0]!.id
    await pocket.until(thread, ({ text: words }) => words.includes("✅ done"), "done")
    expect((await pocket.said(thread)).slice(0, 2)).toEqual(["🧑‍💻 Count the stones", "There are three stones."])
    plays([text("And four sticks.")])
    const id = await pocket.write("And the sticks?", { thread })
    await pocket.until(thread, ({ text: words }) => words.includes("And four sticks."), "the reply")
    await expect.poll(() => pocket.marks(id), SOON).toEqual(["👍"])
    const said = await pocket.read(thread)
    expect(said.filter(({ text: words }) => words.includes("And the sticks?"))).toHaveLength(1)
  }, 240_000)

  test(`an allowed command runs, a denied one does not. ${proves("telegram.approvals")}`, async () => {
    const first = await asked("touch one")
    expect(await pocket.press(first, /Allow$/, pocket.eve)).toMatchObject({ isAlert: true })
    expect(existsSync(file("one"))).toBe(false)
    expect(await pocket.press(first, /Allow$/)).toMatchObject({ text: "Allowed." })
    await expect.poll(() => existsSync(file("one")), SOON).toBe(true)
    const second = await asked("touch two")
    expect(await pocket.press(second, /Deny$/)).toMatchObject({ text: "Denied." })
    await isIdle()
    expect(existsSync(file("two"))).toBe(false)
    const third = await asked("touch three")
    await q.home.kill()
    expect(existsSync(file("three"))).toBe(false)
    await q.home.run("start")
    expect(await pocket.press(third, /Allow$/)).toMatchObject({ text: "Allowed." })
    await expect.poll(() => existsSync(file("three")), SOON).toBe(true)
    await isIdle()
    expect(await pocket.topics()).toHaveLength(1)
  }, 240_000)

  test("always is one rule: the same command needs no approval again, another one does", async () => {
    const approval = await asked(VIEW)
    expect((await pocket.press(approval, /Always: .*Bash\(/)).text).toMatch(/^Allowed, and always/)
    await isIdle()
    const rules = () => JSON.parse(readFileSync(file(".claude/settings.local.json"), "utf8")).permissions.allow
    expect(rules()).toHaveLength(1)
    plays(bash(VIEW), bash("touch five"), [text("Again.")])
    await pocket.write("Once more", { thread })
    const isApproval = ({ text: words, buttons }: Seen) => words.includes("touch five") && buttons.length > 0
    await pocket.press(await pocket.until(thread, isApproval, "the other approval request"), /Deny$/)
    const approvals = (await pocket.read(thread)).filter(({ id }) => id > approval.id).map(({ text: words }) => words)
    expect(approvals.filter((words) => words.startsWith("🔐") && words.includes(VIEW))).toEqual([])
  }, 240_000)
})
