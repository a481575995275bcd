import { hostname } from "node:os"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { makePocket, type Pocket, SOON } from "../fixtures/pocket.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { proves } from "../promises.ts"

/** One story, in the order in which somebody lives it who sets it up for the first time. */
describe("somebody sets it up and leaves the desk", () => {
  let pocket: Pocket
  let q: QueueHome
  let agent: FakeAgent
  let thread: number
  beforeAll(async () => {
    pocket = await makePocket()
    q = await makeQueueHome(["shop"], { THROUGHLINE_TELEGRAM_API_ROOT: pocket.apiRoot })
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
  const dones = async () => (await pocket.said(thread)).filter((text) => text.startsWith("✅ done")).length
  const kill = async () => {
    await q.home.kill()
    await q.home.run("start")
  }
  /** From the phone, the agent is asked for something that needs approval; returns the request. */
  const asked = async (command: string) => {
    await isIdle()
    await pocket.write(`Please\nDIALOG ${command}`, { thread })
    const isApproval = ({ text, buttons }: Seen) => text.includes(command) && buttons.length > 0
    return pocket.until(thread, isApproval, `the approval of ${command}`)
  }
  const decided = () => agent.log().filter(({ kind }) => kind === "hook-decided")
  test("set up by one command, and by the code that it prints one person may", async () => {
    const args = ["telegram", "setup", "--token", pocket.token, "--chat", String(pocket.group), "--yes"]
    const { code, stdout } = await q.home.run(...args)
    expect([code, stdout]).toEqual([0, expect.stringContaining("@throughline_bot is set up in Work")])
    const pairing = /Whoever sends it ([A-Z2-9]{8}) can message sessions/.exec(stdout)![1]!
    await pocket.write(pairing, { chat: pocket.ada })
    const users = async () => (await q.home.json<{ users: { userId: string }[] }>("telegram", "users")).users
    await expect.poll(users, SOON).toMatchObject([{ userId: String(pocket.ada) }])
    expect(await pocket.topics(), "what the wizard tried is gone again").toEqual([])
  }, 240_000)

  test(`the first session. ${proves("telegram.topic")}`, async () => {
    agent = await q.start("shop")
    await atDesk("Count the stones\nTOOL 50\nTOOL 50\nTOOL 50\nREPLY There are **three**.")
    await expect.poll(pocket.topics, SOON).toHaveLength(1)
    const [topic] = await pocket.topics()
    thread = topic!.id
    await expect.poll(dones, SOON).toBe(1)
    expect((await pocket.topics()).map(({ name }) => name)).toEqual([
      expect.stringMatching(new RegExp(`^${hostname().split(".")[0]} • shop • Count the stones`)),
    ])
    expect(await pocket.said(thread)).toEqual([
      expect.stringMatching(/^🧑‍💻 Count the stones/),
      expect.stringMatching(/^(?:.*Bash: true.*\n?){3}$/),
      "There are three.",
      expect.stringMatching(/^✅ done in \d+ s · 3 tools$/),
    ])
  }, 240_000)

  test("a text from the phone reaches that agent once, gets its receipts, and is not echoed", async () => {
    await isIdle()
    const id = await pocket.write("And the sticks?", { thread })
    await expect.poll(() => pocket.marks(id), SOON).toEqual(["👍"])
    await expect.poll(dones, SOON).toBe(2)
    expect(agent.prompts().filter((text) => text === "And the sticks?")).toHaveLength(1)
    expect((await pocket.said(thread)).slice(4)).toEqual(["Done: And the sticks?", expect.stringMatching(/^✅ done/)])
    const marks = (await pocket.calls("setMessageReaction")).filter(({ params }) => Number(params.message_id) === id)
    const words = marks.map(({ params }) => JSON.stringify(params.reaction))
    expect(words).toEqual([expect.stringContaining("👀"), expect.stringContaining("👍")])
  }, 240_000)

  test(`an approval request with buttons: allow, deny, always, and somebody else. ${proves("telegram.approvals")}`, async () => {
    const first = await asked("make release")
    expect(await pocket.press(first, /Allow$/, pocket.eve)).toMatchObject({ isAlert: true })
    expect(decided()).toEqual([])
    expect(await pocket.press(first, /Allow$/)).toMatchObject({ text: "Allowed." })
    await expect.poll(() => decided().length, SOON).toBe(1)
    const second = await asked("rm -r build")
    expect(await pocket.press(second, /Deny$/)).toMatchObject({ text: "Denied." })
    await expect.poll(() => decided().length, SOON).toBe(2)
    const third = await asked("npm test")
    expect((await pocket.press(third, /^.*Always/)).text).toMatch(/^Allowed, and always/)
    await expect.poll(() => decided().length, SOON).toBe(3)
    expect(decided().map(({ text }) => JSON.parse(text).behavior)).toEqual(["allow", "deny", "allow"])
    const ends = async () => {
      const all = await pocket.read(thread)
      return [first, second, third].map(({ id }) => {
        const now = all.find((one) => one.id === id)!
        return `${now.buttons.length} ${now.text}`
      })
    }
    await expect
      .poll(ends, SOON)
      .toEqual([
        expect.stringMatching(/^0 .*Allowed by Ada/),
        expect.stringMatching(/^0 .*Denied by Ada/),
        expect.stringMatching(/^0 .*Allowed.* by Ada/),
      ])
    const { entries } = await q.home.json<{ entries: { what: string; who: string }[] }>("audit")
    expect(entries.filter(({ what }) => what === "channel.refused")).toHaveLength(1)
  }, 240_000)

  test(`killed over a text, a reply and an approval. ${proves("telegram.exactly-once")}`, async () => {
    const before = agent.prompts().length
    await pocket.write("one", { thread })
    await kill()
    await pocket.write("two", { thread })
    await expect.poll(() => agent.prompts().slice(before), SOON).toEqual(["one", "two"])
    await isIdle()
    await atDesk("Talk\nTOOL 100\nREPLY said while it died")
    await kill()
    await pocket.until(thread, ({ text }) => text.includes("said while it died"), "the reply")
    const approval = await asked("deploy")
    const count = decided().length
    await q.home.kill()
    expect(decided()).toHaveLength(count)
    await q.home.run("start")
    expect(await pocket.press(approval, /Allow$/)).toMatchObject({ text: "Allowed." })
    await expect.poll(() => decided().length, SOON).toBe(count + 1)
    await isIdle()
    const counts = async () => {
      const said = await pocket.said(thread)
      const times = (words: string) => said.filter((text) => text.includes(words) && !text.includes("↻")).length
      return [times("Done: one"), times("Done: two"), times("said while it died"), times("Bash: deploy")]
    }
    // The tool call is reported a moment after the agent is idle again.
    await expect.poll(counts, SOON).toEqual([1, 1, 1, 1])
    expect(
      agent
        .prompts()
        .slice(before)
        .filter((text) => /^(?:one|two)$/.test(text)),
    ).toEqual(["one", "two"])
    expect(await pocket.topics()).toHaveLength(1)
  }, 240_000)
})
