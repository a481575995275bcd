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
  const cards = () =>
    all().filter(({ buttons, isBot }) => isBot && buttons.flat().some(({ label }) => label.includes("Allow")))
  const now = (card: Seen) => all().find(({ id }) => id === card.id)!
  const since = (n: number) => agent.log().slice(n)

  /** The model asks for a command; returns its card. */
  async function asked(command: string) {
    const [n, before] = [agent.log().length, new Set(all().map(({ id }) => id))]
    await q.send("web", `Please\nDIALOG ${command}`)
    let card: Seen | undefined
    await expect.poll(() => (card = cards().find(({ id }) => !before.has(id))), SOON).toBeDefined()
    const id = /q-[0-9a-f]{16}/.exec(card!.buttons[0]![0]!.data!)![0]
    return { card: card!, id, kinds: () => since(n).map(({ kind }) => kind) }
  }
  const tap = async (card: Seen, label: RegExp, who = people.ada) => {
    const button = card.buttons.flat().find((one) => label.test(one.label))!
    const tapped = who.tapOld(group, card.id, button.data!)
    await expect.poll(() => tapped.answer(), SOON).toBeDefined()
    return tapped.answer()!
  }

  test("the end of a long command is on the card, all of it one tap away, and the tap has effect within 2 s", async () => {
    const command = `echo ${"x".repeat(5_000)}${TAIL}`
    const { card, kinds } = await asked(command)
    expect(card.text).toContain(TAIL)
    expect(card.text).toContain("echo xxx")
    expect(card.text.length).toBeLessThan(4_096)
    expect(card.isSilent).toBe(false)
    expect(await tap(card, /Show all/)).toMatchObject({ text: "It comes below." })
    await tap(card, /Show all/)
    const files = () => all().filter(({ file }) => file !== undefined)
    await expect.poll(() => files().length, SOON).toBe(1)
    expect(files()[0]!.file!.bytes.toString()).toBe(command)
    const beganMs = performance.now()
    expect(await tap(card, /Allow$/)).toEqual({ text: "Allowed.", isAlert: false })
    await expect.poll(kinds, SOON).toContain("hook-decided")
    expect(performance.now() - beganMs).toBeLessThan(20_000)
    await expect.poll(() => now(card).buttons.flat().length, SOON).toBe(0)
    expect(now(card).text).toMatch(/✅ Allowed by Ada/)
  }, 240_000)

  test("from the tap to the decision it takes less than 2 s, each time", async () => {
    const tookMs: number[] = []
    for (let n = 0; n < 8; n++) {
      const { card, kinds } = await asked(`count ${n}`)
      const beganMs = Date.now()
      await tap(card, /Allow$/)
      await expect.poll(kinds, SOON).toContain("hook-decided")
      tookMs.push(agent.log().findLast(({ kind }) => kind === "hook-decided")!.atMs - beganMs)
      await expect.poll(() => agent.registry()?.status, SOON).toBe("idle")
    }
    process.stdout.write(`from the tap to the decision: ${tookMs.toSorted((a, b) => a - b).join(", ")} ms\n`)
    expect(Math.max(...tookMs)).toBeLessThan(2_000)
  }, 240_000)

  test("two taps are one decision, and the second is told which", async () => {
    const { card, id, kinds } = await asked("two taps")
    const both = await Promise.all([tap(card, /Deny$/), tap(card, /Allow$/)])
    expect(both.map(({ text }) => text).toSorted()).toEqual([
      "Denied.",
      expect.stringMatching(/^It was denied already, by Ada/),
    ])
    expect(kinds().filter((kind) => kind === "hook-decided")).toHaveLength(1)
    const { entries } = await q.call<{ entries: { data: { id?: string } }[] }>("audit", {})
    expect(entries.filter(({ data }) => data.id === id)).toHaveLength(1)
  }, 240_000)

  test("somebody who is not on the list is refused, with a trace, and it still waits", async () => {
    const { card, id } = await asked("not yours")
    expect(await tap(card, /Allow$/, people.eve)).toMatchObject({
      isAlert: true,
      text: expect.stringMatching(/not on the list/),
    })
    expect(await state(id)()).toBe("waiting")
    const { entries } = await q.call<{ entries: { what: string }[] }>("audit", {})
    expect(entries[0]).toMatchObject({ what: "channel.refused" })
    expect(await tap(card, /Always: .*Bash\(not yours\)/)).toMatchObject({
      text: expect.stringMatching(/^Allowed, and always/),
    })
    const decided = agent.log().findLast(({ kind }) => kind === "hook-decided")!
    expect(JSON.parse(decided.text).updatedPermissions).toEqual([
      expect.objectContaining({ rules: [{ toolName: "Bash", ruleContent: "not yours" }] }),
    ])
  }, 240_000)

  test("the terminal is first: the buttons are gone within 3 s, and a tap that was under way is told so", async () => {
    const { card, id } = await asked("at the desk")
    await sleep(500)
    const beganMs = performance.now()
    q.agents.tmux("a", "send-keys", "-t", agent.pane.pane, "Enter")
    await expect.poll(() => now(card).buttons.flat().length, SOON).toBe(0)
    expect(performance.now() - beganMs).toBeLessThan(20_000)
    expect(await state(id)()).toBe("stale")
    expect(now(card).text).toMatch(/answered at the terminal/)
    expect(await tap(card, /Allow$/)).toEqual({ text: "Answered at the terminal.", isAlert: true })
  }, 240_000)

  test("the daemon is killed while it waits: the same card is answered after it, and it has effect", async () => {
    const { card, kinds } = await asked("survive")
    await q.home.kill()
    expect(kinds()).not.toContain("hook-decided")
    await q.home.run("start")
    expect(await tap(card, /Allow$/)).toMatchObject({ text: "Allowed." })
    expect(kinds()).toContain("hook-decided")
    expect(
      cards().filter(({ id }) => id !== card.id && now(card).text === all().find((one) => one.id === id)!.text),
    ).toEqual([])
  }, 240_000)

  test("the agent dies while it waits: a tap never says that it was allowed", async () => {
    const { card, id } = await asked("die")
    process.kill(agent.pid, "SIGKILL")
    const { text, isAlert } = await tap(card, /Allow$/)
    expect(text).not.toMatch(/^Allowed/)
    expect(isAlert).toBe(true)
    await expect.poll(state(id), SOON).toBe("stale")
    agent = await q.start("web")
  }, 240_000)

  test("a reply to the card denies it with these words, and does not go to the agent as a prompt", async () => {
    const { card, id } = await asked("replied to")
    const prompts = agent.prompts().length
    people.ada.write(group, "use the staging server", { thread: card.thread, replyTo: card.id })
    await expect.poll(state(id), SOON).toBe("denied")
    const decided = () => agent.log().findLast(({ kind }) => kind === "hook-decided")!
    await expect.poll(() => decided().text, SOON).toMatch(/use the staging server/)
    await sleep(500)
    expect(agent.prompts()).toHaveLength(prompts)
  }, 240_000)
})
