import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { makePocket, type Pocket, SOON } from "../fixtures/pocket.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"

/** As in a group, but for nobody else: and Telegram takes more messages a minute there. */
describe("somebody has their sessions in the private chat with the bot", () => {
  let pocket: Pocket
  let q: QueueHome
  let agent: FakeAgent
  let thread: number
  beforeAll(async () => {
    pocket = await makePocket(
      { limits: false, bots: [{ username: "throughline_bot", topicsInPrivate: true }] },
      "private",
    )
    q = await makeQueueHome(["shop"], { THROUGHLINE_TELEGRAM_API_ROOT: pocket.apiRoot })
    // So that a mock agent can continue the session.
    const teams = { shop: { project: q.dirOf("shop"), program: q.agents.program } }
    writeFileSync(join(q.home.dir, "config.json"), JSON.stringify({ teams }))
  }, 240_000)
  afterAll(async () => {
    await q?.dispose()
    await pocket?.close()
  })

  const isIdle = () => expect.poll(() => agent.registry()?.status, SOON).toBe("idle")
  const command = async (text: string, where: { thread?: number } = { thread }) => {
    const id = await pocket.write(text, where)
    const isAnswer = ({ isBot, replyTo }: Seen) => isBot && replyTo === id
    return (await pocket.until(where.thread ?? null, isAnswer, `the answer to ${text}`)).text
  }

  test("set up without a group: the first to send the code gets the topics", async () => {
    const args = ["telegram", "setup", "--token", pocket.token, "--private", "--yes"]
    const { code, stdout } = await q.home.run(...args)
    expect([code, stdout]).toEqual([0, expect.stringContaining("is set up for private chats")])
    await pocket.write(/Whoever sends it ([A-Z2-9]{8}) can message sessions/.exec(stdout)![1]!)
    await pocket.until(null, ({ isBot, text }) => isBot && /may|paired/i.test(text), "the answer to the code")
    agent = await q.start("shop")
    await q.agents.panes.paste(agent.pane, "Count the stones")
    await q.agents.panes.key(agent.pane, "Enter")
    await expect
      .poll(pocket.topics, SOON)
      .toMatchObject([{ name: expect.stringMatching(/ • shop • Count the stones$/) }])
    thread = (await pocket.topics())[0]!.id
    await pocket.until(thread, ({ text }) => text.startsWith("✅ done"), "done")
    expect((await pocket.said(thread)).slice(0, 2)).toEqual(["🧑‍💻 Count the stones", "Done: Count the stones"])
  }, 240_000)

  test("commands answer", async () => {
    await isIdle()
    expect(await command("/status")).toMatch(/The agent is idle\.\nNo pending messages\.\nNot muted, normal\./)
    expect(await command("/sessions", {})).toMatch(/^Live on .*\n• shop • Count the stones.* is idle/)
    expect(await command("/queue")).toBe("No pending messages.")
    expect(await command("/mute")).toMatch(/^This topic is now muted/)
    expect(await command("/verbose")).toMatch(/^Everything is shown/)
    expect(await command("/status")).toMatch(/Muted, verbose\.$/)
    expect(await command("/unmute")).toMatch(/sound again/)
    expect(await command("/normal")).toMatch(/a line per tool call/)
    expect(await command("/help")).toMatch(/\/stop – /)
    expect(await command("/stop")).toMatch(/^Not stopped: /)
    await pocket.write("Take long\nSLOW 20000", { thread })
    await expect.poll(() => agent.registry()?.status, SOON).toBe("busy")
    expect(await command("/stop")).toBe("Stopped.")
    await isIdle()
  }, 240_000)

  test("an approval is answered there, too", async () => {
    await pocket.write("Please\nDIALOG make release", { thread })
    const approval = await pocket.until(thread, ({ buttons }) => buttons.length > 0, "the approval request")
    expect(await pocket.press(approval, /Allow$/)).toMatchObject({ text: "Allowed." })
    await agent.until((log) => log.some(({ kind }) => kind === "hook-decided"))
  }, 240_000)

  const atDesk = async (text: string) => {
    await q.agents.panes.paste(agent.pane, text)
    await q.agents.panes.key(agent.pane, "Enter")
  }
  const refused = async (method: string) => (await pocket.calls(method)).filter(({ ok }) => !ok).length

  test("a topic that is deleted by hand is made again, and nothing is silenced", async () => {
    await isIdle()
    await pocket.deleteTopic(thread)
    await atDesk("Count the trees")
    await expect.poll(async () => (await pocket.topics()).map(({ id }) => id), SOON).toEqual([expect.any(Number)])
    const [next] = await pocket.topics()
    expect(next!.id).not.toBe(thread)
    thread = next!.id
    await pocket.until(thread, ({ text }) => text === "Done: Count the trees", "the reply")
    expect(await q.home.json("telegram", "status")).toMatchObject({ failed: 0, holds: [] })
  }, 240_000)

  test("an ended session's topic is renamed, and renamed back after Resume; nothing is ever closed", async () => {
    await pocket.until(thread, ({ text }) => text.startsWith("✅ done"), "done")
    await isIdle()
    await atDesk("/exit")
    const names = async () => (await pocket.topics()).map(({ name }) => name)
    await expect.poll(names, SOON).toEqual([expect.stringMatching(/^✓ /)])
    await pocket.write("Are you there?", { thread })
    const isOffer = ({ buttons }: Seen) => buttons.flat().some(({ label }) => label === "Resume")
    const offer = await pocket.until(thread, isOffer, "Resume")
    expect(await pocket.press(offer, /Resume/)).toMatchObject({ text: "The session continues." })
    await pocket.until(thread, ({ text }) => text.includes("Are you there?") && text.startsWith("Done"), "the reply")
    await expect.poll(names, SOON).toEqual([expect.not.stringMatching(/^✓ /)])
    expect([await pocket.calls("closeForumTopic"), await pocket.calls("reopenForumTopic")]).toEqual([[], []])
    expect(await refused("editForumTopic")).toBe(0)
    expect(await q.home.json("telegram", "status")).toMatchObject({ failed: 0, holds: [] })
  }, 240_000)
})
