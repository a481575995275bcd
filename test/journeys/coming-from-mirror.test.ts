import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { makePocket, type Pocket, SOON } from "../fixtures/pocket.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import { type Transcript, transcriptOf } from "../fixtures/transcript.ts"

/** What claude-telegram-mirror does, one thing after another. Claude Code and Telegram are mocks; hooks and tmux are not. */
describe("somebody who comes from claude-telegram-mirror", () => {
  let pocket: Pocket
  let q: QueueHome
  let talk: Transcript
  let shop: FakeAgent
  let yard: FakeAgent
  let shopTopic: number
  let yardTopic: number

  const atDesk = async (agent: FakeAgent, text: string) => {
    talk.said(`${agent.name}, at the desk> ${text}`, "")
    await q.agents.panes.paste(agent.pane, text)
    await q.agents.panes.key(agent.pane, "Enter")
  }
  const topicOf = async (word: string) => (await pocket.topics()).find(({ name }) => name.includes(word))
  const write = async (text: string, where: { thread?: number; by?: number } = {}) => {
    talk.said(`phone, in ${where.thread === undefined ? "General" : "the session's topic"}> ${text}`, "")
    return pocket.write(text, where)
  }
  const show = async (thread: number) =>
    talk.said("phone, what is in the topic:", (await pocket.said(thread)).join("\n"))
  const showPane = (agent: FakeAgent) => talk.said(`${agent.name}, what was typed there last:`, agent.prompts().at(-1)!)
  const inGeneral = async () => (await pocket.read(null)).filter(({ isBot, text }) => isBot && text !== "")
  const isIdle = (agent: FakeAgent) => expect.poll(() => agent.registry()?.status, SOON).toBe("idle")

  beforeAll(async () => {
    pocket = await makePocket()
    q = await makeQueueHome(["shop", "yard"], { THROUGHLINE_TELEGRAM_API_ROOT: pocket.apiRoot })
    talk = transcriptOf("mirror", q.home)
  }, 240_000)
  afterAll(async () => {
    await q?.dispose()
    await pocket?.close()
  })

  test("telegram setup takes the bot's token and the group, and setup installs a hook script that needs no jq", async () => {
    const args = ["telegram", "setup", "--chat", String(pocket.group), "--user", String(pocket.ada), "--yes", "--token"]
    const { code, stdout } = await q.home.run(...args, pocket.token)
    talk.said(`$ throughline ${args.join(" ")} <token>`, stdout)
    expect(code).toBe(0)
    expect((await talk.cli("telegram", "status")).stdout).toContain("Work")
    expect(readFileSync(join(q.home.dir, "hook.sh"), "utf8")).not.toMatch(/\bjq\b/)
  }, 240_000)

  test("a session has a topic of its own, made once, in blue, named host • project • title", async () => {
    shop = await q.start("shop")
    await atDesk(shop, "Count the stones\nREPLY There are **three**.")
    await expect.poll(() => topicOf("stones"), SOON).toBeDefined()
    yard = await q.start("yard")
    await atDesk(yard, "Sweep the leaves")
    await expect.poll(() => topicOf("leaves"), SOON).toBeDefined()
    const [a, b] = [(await topicOf("stones"))!, (await topicOf("leaves"))!]
    ;[shopTopic, yardTopic] = [a.id, b.id]
    expect(a.name).toMatch(new RegExp(`^${hostname().split(".")[0]} • shop • Count the stones`))
    expect(await pocket.topics()).toHaveLength(2)
    // Telegram's own first colour by default.
    for (const { params } of await pocket.calls("createForumTopic"))
      expect([undefined, 7322096, "7322096"]).toContain(params.icon_color)
  }, 240_000)

  test("prompts from the terminal and the agent's replies are in the session's topic, and in no other", async () => {
    const said = async () => (await pocket.said(shopTopic)).join("\n")
    await expect.poll(said, SOON).toMatch(/🧑‍💻 Count the stones[\s\S]*There are three\.[\s\S]*✅ done/)
    expect((await pocket.said(yardTopic)).join("\n")).not.toContain("stones")
    const reply = (await pocket.read(shopTopic)).find(({ text }) => text === "There are three.")!
    expect(reply.entities, "marked, not Markdown to be escaped").toMatchObject([{ type: "bold" }])
    await show(shopTopic)
  }, 240_000)

  test("a message in a topic is typed into that session's pane, and into no other", async () => {
    await isIdle(yard)
    await write("And the twigs? Price: $5; -x", { thread: yardTopic })
    await expect.poll(() => yard.prompts(), SOON).toContain("And the twigs? Price: $5; -x")
    showPane(yard)
    expect(shop.prompts().join()).not.toContain("twigs")
  }, 240_000)

  test("sessions live shows each session's pane", async () => {
    const { stdout } = await talk.cli("sessions", "live")
    for (const agent of [shop, yard]) expect(stdout).toContain(agent.pane.pane)
  })

  test("after a restart of the daemon topics and panes are the same, and both ways work", async () => {
    await q.home.kill()
    await talk.cli("start")
    await isIdle(shop)
    await write("And the pebbles?", { thread: shopTopic })
    await expect.poll(() => shop.prompts(), SOON).toContain("And the pebbles?")
    showPane(shop)
    await expect.poll(async () => (await pocket.said(shopTopic)).join("\n"), SOON).toContain("Done: And the pebbles?")
    await show(shopTopic)
    expect(await pocket.topics()).toHaveLength(2)
  }, 240_000)

  test("a message in General goes to no agent, and is answered", async () => {
    const before = [shop.prompts().length, yard.prompts().length]
    // The set-up has tried here whether it can write.
    const heard = (await inGeneral()).length
    for (const [at, [words, answer]] of (
      [
        ["Do something", /topic/i],
        ["/status", /2 live/],
      ] as const
    ).entries()) {
      await write(words)
      await expect.poll(async () => (await inGeneral())[heard + at]?.text, SOON).toMatch(answer)
      talk.said("phone, in General, the answer:", (await inGeneral())[heard + at]!.text)
    }
    expect([shop.prompts().length, yard.prompts().length]).toEqual(before)
  }, 240_000)

  test("a user who is not on the list reaches no agent, and is in the audit", async () => {
    talk.note("Somebody else in the group writes.")
    await write("Delete everything", { thread: shopTopic, by: pocket.eve })
    const refused = async () =>
      (await q.home.json<{ entries: { what: string }[] }>("audit")).entries.filter(
        ({ what }) => what === "channel.refused",
      )
    await expect.poll(async () => (await refused()).length, SOON).toBe(1)
    expect(shop.prompts().join()).not.toContain("Delete everything")
    await talk.cli("audit")
  }, 240_000)

  test("a session outside of tmux has its topic, too", async () => {
    const outside = await q.start("shop", { name: "outside", outside: true })
    await atDesk(outside, "Look at the clouds")
    await expect.poll(() => topicOf("clouds"), SOON).toBeDefined()
    await expect.poll(async () => (await pocket.said((await topicOf("clouds"))!.id)).join("\n"), SOON).toContain("done")
    await show((await topicOf("clouds"))!.id)
  }, 240_000)
})
