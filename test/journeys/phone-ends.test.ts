import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { FakeEntry } from "../fixtures/fake-agent-files.ts"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { makePocket, type Pocket, SOON } from "../fixtures/pocket.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { proves } from "../promises.ts"

describe("agents end while their person is away", () => {
  let pocket: Pocket
  let q: QueueHome
  let agent: FakeAgent
  let thread: number
  beforeAll(async () => {
    pocket = await makePocket()
    q = await makeQueueHome(["shop"], { THROUGHLINE_TELEGRAM_API_ROOT: pocket.apiRoot })
    const teams = { shop: { project: q.dirOf("shop"), program: q.agents.program } }
    writeFileSync(join(q.home.dir, "config.json"), JSON.stringify({ teams }))
    const args = ["telegram", "setup", "--chat", String(pocket.group), "--user", String(pocket.ada)]
    await q.home.json(...args, "--token", pocket.token)
  }, 240_000)
  afterAll(async () => {
    await q?.dispose()
    await pocket?.close()
  })

  const atDesk = async (text: string) => {
    await q.agents.panes.paste(agent.pane, text)
    await q.agents.panes.key(agent.pane, "Enter")
  }
  const isIdle = () => expect.poll(() => agent.registry()?.status, SOON).toBe("idle")
  const kill = async () => {
    await q.home.kill()
    await q.home.run("start")
  }

  test("an agent that is killed and started again is reported as restarted", async () => {
    agent = await q.start("shop")
    await atDesk("Count the stones")
    await expect.poll(pocket.topics, SOON).toHaveLength(1)
    thread = (await pocket.topics())[0]!.id
    await pocket.until(thread, ({ text }) => text.includes("✅ done"), "done")
    process.kill(agent.pid, "SIGKILL")
    await expect.poll(() => q.agents.panes.look(agent.pane), SOON).toBeUndefined()
    agent = await q.start("shop")
    await atDesk("Go on")
    await expect.poll(async () => (await pocket.topics()).length, SOON).toBe(2)
    const next = (await pocket.topics()).find(({ id }) => id !== thread)!
    const isNotice = ({ text }: Seen) => text.includes("🔄 shop was restarted")
    await pocket.until(next.id, isNotice, "the notice")
    expect((await pocket.read()).filter(isNotice)).toHaveLength(1)
    thread = next.id
  }, 240_000)

  test(`its topic is archived. ${proves("telegram.resume")}`, async () => {
    await isIdle()
    const native = agent.registry()!.sessionId
    await atDesk("/exit")
    const topic = async () => (await pocket.topics()).find(({ id }) => id === thread)!
    await expect.poll(topic, SOON).toMatchObject({ isClosed: true, name: expect.stringMatching(/^✓ /) })
    const id = await pocket.write("are you there?", { thread })
    await expect.poll(() => pocket.marks(id), SOON).toEqual(["👀"])
    const isOffer = ({ buttons }: Seen) => buttons.flat().some(({ label }) => label === "Resume")
    const offer = await pocket.until(thread, isOffer, "Resume")
    await kill()
    expect(await pocket.press(offer, /Resume/)).toMatchObject({ text: "The session continues." })
    const log = join(q.home.env.HOME!, ".claude", "fake-agent.jsonl")
    const prompts = () =>
      (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [])
        .map((line) => JSON.parse(line) as FakeEntry)
        .flatMap(({ kind, text, sessionId }) => (kind === "prompt" ? [[text, sessionId]] : []))
    await expect.poll(prompts, SOON).toEqual([["are you there?", native]])
    await expect.poll(() => pocket.marks(id), SOON).toEqual(["👍"])
    await expect.poll(topic, SOON).toMatchObject({ isClosed: false })
  }, 240_000)
})
