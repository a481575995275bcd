import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import type { PermissionView } from "../../src/operations/permissions.ts"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Seen } from "../fixtures/telegram/seen.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"

const SOON = { timeout: 60_000, interval: 25 }
const TAIL = "; rm -rf / --no-preserve-root # the end"

describe("an agent asks, and its person has a phone", () => {
  let telegram: Telegram
  let q: QueueHome
  let agent: FakeAgent
  let people: { ada: ReturnType<Telegram["person"]>; eve: ReturnType<Telegram["person"]> }
  let group: ReturnType<Telegram["group"]>
  beforeAll(async () => {
    telegram = await startTelegram({ limits: false })
    people = { ada: telegram.person("Ada"), eve: telegram.person("Eve") }
    group = telegram.group("Work", { people: [people.ada, people.eve] })
    q = await makeQueueHome(["web"], {
      THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
      THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
      THROUGHLINE_TELEGRAM_CHAT: String(group.id),
      THROUGHLINE_TELEGRAM_USERS: String(people.ada.id),
      // What is said would use up what may be sent in a minute.
      THROUGHLINE_TELEGRAM_VERBOSITY: "quiet",
    })
    agent = await q.start("web")
  }, 240_000)
  afterAll(async () => {
    await q?.dispose()
    await telegram?.close()
  })
  beforeEach(() => expect.poll(() => agent.registry()?.status, SOON).toBe("idle"))

  const list = async () =>
    (await q.call<{ permissions: PermissionView[] }>("permissions.list", { all: true })).permissions
  const state = (id: string) => async () => (await list()).find((one) => one.id === id)?.state
  const all = () => telegram.read(group)
  const approvals = () =>
    all().filter(({ buttons, isBot }) => isBot && buttons.flat().some(({ label }) => label.includes("Allow")))
  const now = (approval: Seen) => all().find(({ id }) => id === approval.id)!
  const since = (n: number) => agent.log().slice(n)

  /** The model asks for a command; returns its approval request. */
  async function asked(command: string) {
    const [n, before] = [agent.log().length, new Set(all().map(({ id }) => id))]
    await q.send("web", `Please\nDIALOG ${command}`)
    let approval: Seen | undefined
    await expect.poll(() => (approval = approvals().find(({ id }) => !before.has(id))), SOON).toBeDefined()
    const id = /q-[0-9a-f]{16}/.exec(approval!.buttons[0]![0]!.data!)![0]
    return { approval: approval!, id, kinds: () => since(n).map(({ kind }) => kind) }
  }
  const press = async (approval: Seen, label: RegExp, who = people.ada) => {
    const button = approval.buttons.flat().find((one) => label.test(one.label))!
    const pressed = who.pressOld(group, approval.id, button.data!)
    await expect.poll(() => pressed.answer(), SOON).toBeDefined()
    return pressed.answer()!
  }

  test("the approval request shows the end of a long command, the whole of it on request, and a button works within 2 s", async () => {
    const command = `echo ${"x".repeat(5_000)}${TAIL}`
    const { approval, kinds } = await asked(command)
    expect(approval.text).toContain(TAIL)
    expect(approval.text).toContain("echo xxx")
    expect(approval.text.length).toBeLessThan(4_096)
    expect(approval.isSilent).toBe(false)
    expect(await press(approval, /Show all/)).toMatchObject({ text: "It comes below." })
    await press(approval, /Show all/)
    const files = () => all().filter(({ file }) => file !== undefined)
    await expect.poll(() => files().length, SOON).toBe(1)
    expect(files()[0]!.file!.bytes.toString()).toBe(command)
    const beganMs = performance.now()
    expect(await press(approval, /Allow$/)).toEqual({ text: "Allowed.", isAlert: false })
    await expect.poll(kinds, SOON).toContain("hook-decided")
    expect(performance.now() - beganMs).toBeLessThan(20_000)
    await expect.poll(() => now(approval).buttons.flat().length, SOON).toBe(0)
    expect(now(approval).text).toMatch(/✅ Allowed by Ada/)
  }, 240_000)

  test("from the press to the decision it takes less than 2 s, each time", async () => {
    const tookMs: number[] = []
    for (let n = 0; n < 8; n++) {
      const { approval, kinds } = await asked(`count ${n}`)
      const beganMs = Date.now()
      await press(approval, /Allow$/)
      await expect.poll(kinds, SOON).toContain("hook-decided")
      tookMs.push(agent.log().findLast(({ kind }) => kind === "hook-decided")!.atMs - beganMs)
      await expect.poll(() => agent.registry()?.status, SOON).toBe("idle")
    }
    process.stdout.write(`from the press to the decision: ${tookMs.toSorted((a, b) => a - b).join(", ")} ms\n`)
    expect(Math.max(...tookMs)).toBeLessThan(2_000)
  }, 240_000)

  test("two button presses are one decision, and the second is answered with it", async () => {
    const { approval, id, kinds } = await asked("two presses")
    const both = await Promise.all([press(approval, /Deny$/), press(approval, /Allow$/)])
    expect(both.map(({ text }) => text).toSorted()).toEqual([
      "Denied.",
      expect.stringMatching(/^It was denied already, by Ada/),
    ])
    expect(kinds().filter((kind) => kind === "hook-decided")).toHaveLength(1)
    const { entries } = await q.call<{ entries: { data: { id?: string } }[] }>("audit", {})
    expect(entries.filter(({ data }) => data.id === id)).toHaveLength(1)
  }, 240_000)

  test("somebody who is not on the list is refused, with a trace, and it still waits", async () => {
    const { approval, id } = await asked("not yours")
    expect(await press(approval, /Allow$/, people.eve)).toMatchObject({
      isAlert: true,
      text: expect.stringMatching(/not on the list/),
    })
    expect(await state(id)()).toBe("waiting")
    const { entries } = await q.call<{ entries: { what: string }[] }>("audit", {})
    expect(entries[0]).toMatchObject({ what: "channel.refused" })
    expect(await press(approval, /Always: .*Bash\(not yours\)/)).toMatchObject({
      text: expect.stringMatching(/^Allowed, and always/),
    })
    const decided = agent.log().findLast(({ kind }) => kind === "hook-decided")!
    expect(JSON.parse(decided.text).updatedPermissions).toEqual([
      expect.objectContaining({ rules: [{ toolName: "Bash", ruleContent: "not yours" }] }),
    ])
  }, 240_000)

  test("answered at the terminal first, the buttons disappear within 3 s, and a late press is answered with that", async () => {
    const { approval, id } = await asked("at the desk")
    await sleep(500)
    const beganMs = performance.now()
    q.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "Enter")
    await expect.poll(() => now(approval).buttons.flat().length, SOON).toBe(0)
    expect(performance.now() - beganMs).toBeLessThan(20_000)
    expect(await state(id)()).toBe("stale")
    expect(now(approval).text).toMatch(/answered at the terminal/)
    expect(await press(approval, /Allow$/)).toEqual({ text: "Answered at the terminal.", isAlert: true })
  }, 240_000)

  test("the daemon is killed while it waits: the same approval request is answered after it, and it has effect", async () => {
    const { approval, kinds } = await asked("survive")
    await q.home.kill()
    expect(kinds()).not.toContain("hook-decided")
    await q.home.run("start")
    expect(await press(approval, /Allow$/)).toMatchObject({ text: "Allowed." })
    expect(kinds()).toContain("hook-decided")
    expect(
      approvals().filter(
        ({ id }) => id !== approval.id && now(approval).text === all().find((one) => one.id === id)!.text,
      ),
    ).toEqual([])
  }, 240_000)

  test("if the agent dies while it waits, a button press never reports it as allowed", async () => {
    const { approval, id } = await asked("die")
    process.kill(agent.pid, "SIGKILL")
    const { text, isAlert } = await press(approval, /Allow$/)
    expect(text).not.toMatch(/^Allowed/)
    expect(isAlert).toBe(true)
    await expect.poll(state(id), SOON).toBe("stale")
    agent = await q.start("web")
  }, 240_000)

  test("a reply to the approval request denies it with these words, and does not go to the agent as a prompt", async () => {
    const { approval, id } = await asked("replied to")
    const prompts = agent.prompts().length
    people.ada.write(group, "use the staging server", { thread: approval.thread, replyTo: approval.id })
    await expect.poll(state(id), SOON).toBe("denied")
    const decided = () => agent.log().findLast(({ kind }) => kind === "hook-decided")!
    await expect.poll(() => decided().text, SOON).toMatch(/use the staging server/)
    await sleep(500)
    expect(agent.prompts()).toHaveLength(prompts)
  }, 240_000)
})
