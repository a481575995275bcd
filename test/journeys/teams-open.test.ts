import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type AskAnswer, type AskingHome, makeAskingHome } from "../fixtures/asking.ts"
import { type FakeAgent, type FakeAgents, makeFakeAgents } from "../fixtures/fake-agents.ts"

const SOON = { timeout: 60_000, interval: 50 }
const SLOW_MS = 240_000
const WAIT = { timeout: 60_000 }

describe("a person has the pair's session open", () => {
  let b: AskingHome
  let agents: FakeAgents
  beforeAll(async () => {
    b = await makeAskingHome({ web: {}, api: {}, docs: {}, ops: {}, far: {}, late: {} })
    await b.home.json("setup", "claude-code", "--yes")
    agents = makeFakeAgents(b.home)
  })
  afterAll(async () => {
    agents.end()
    await b.dispose()
  })
  const caller = () => ({ surface: "mcp", key: "of-web", projectDir: b.dirOf("web"), cwd: b.dirOf("web") })
  const asWeb = (toTeam: string, message: string, more: object = {}) =>
    b.call<AskAnswer>("teams_send_message", { toTeam, message, ...WAIT, ...more }, caller())
  const deliver = (team: string, message: string, more: object = {}) =>
    asWeb(team, message, { ifOpen: "deliver", ...more })
  /** What reached it with these words, typed or by a hook. */
  const heard = (person: FakeAgent, words: string) =>
    person
      .log()
      .flatMap(({ kind, text }) => (["prompt", "wake", "context"].includes(kind) && text.includes(words) ? [text] : []))
  const processes = async (team: string) => (await b.status()).processes.filter(({ to }) => to === team)

  /** A question creates the pair's session, and then somebody continues it in a terminal. */
  const opened = async (team: string): Promise<{ sessionId: string; person: FakeAgent }> => {
    const { sessionId } = await asWeb(team, "<<SAY plum>>")
    await b.call("teams_control", { operation: "sleep", team, fromTeam: "web" })
    const person = await agents.start({ name: team, cwd: b.dirOf(team), args: ["--resume", sessionId!] })
    await expect.poll(() => person.registry()?.status, SOON).toBe("idle")
    return { sessionId: sessionId!, person }
  }

  test("the question is delivered there once, and the reply there is the answer", { timeout: SLOW_MS }, async () => {
    const { sessionId, person } = await opened("api")
    const asked = await deliver("api", "Which fruit?\nREPLY a fig")
    expect(asked).toMatchObject({ status: "done", answer: "a fig", sessionId, from: "web" })
    expect(heard(person, "Which fruit?")).toEqual([
      expect.stringMatching(/^\[Message m-\w+ from web, via Throughline\]\n> Which fruit\?/),
    ])
    expect(b.states(asked.messageId)).toEqual(["queued", "delivered", "running", "done"])
    expect(await processes("api"), "no second process on it").toEqual([])
    // A longer turn of the person's own comes first, and is not taken for the answer.
    agents.tmux("a", "send-keys", "-t", person.pane.pane, "-l", "SLOW 1500")
    agents.tmux("a", "send-keys", "-t", person.pane.pane, "Enter")
    await expect.poll(() => person.registry()?.status, SOON).toBe("busy")
    expect(await deliver("api", "And now?\nREPLY a pear")).toMatchObject({ status: "done", answer: "a pear" })
    expect(heard(person, "And now?")).toHaveLength(1)
  })

  test("the owner's question is typed as the owner's, and who chooses to wait waits until it is closed", {
    timeout: SLOW_MS,
  }, async () => {
    const { sessionId } = await b.ask("docs", "<<SAY plum>>")
    await b.call("teams_control", { operation: "sleep", team: "docs" })
    const person = await agents.start({ name: "docs", cwd: b.dirOf("docs"), args: ["--resume", sessionId!] })
    await expect.poll(() => person.registry()?.status, SOON).toBe("idle")
    const request = { toTeam: "docs", message: "Mine.\nREPLY yours", ...WAIT }
    const said = await b.call<AskAnswer>("teams_send_message", { ...request, ifOpen: "deliver" })
    expect(said).toMatchObject({ status: "done", answer: "yours", sessionId })
    expect(person.prompts()[0]).toMatch(/^\[Message m-\w+ from the owner to docs, via Throughline\]\nMine\./)
    const waits = await b.call<AskAnswer>("teams_send_message", { ...request, message: "<<SAY w>>", timeout: 1_500 })
    expect(waits).toMatchObject({ status: "queued", reason: "a person has this pair's session open" })
    process.kill(person.pid, "SIGTERM")
    expect(await b.until(waits.messageId, ({ status }) => status === "done")).toMatchObject({ answer: "w", sessionId })
  })

  test("closed before delivery, it is asked as usual, in the same session", { timeout: SLOW_MS }, async () => {
    const { sessionId, person } = await opened("ops")
    agents.tmux("a", "send-keys", "-t", person.pane.pane, "-l", "DIALOG rm x")
    agents.tmux("a", "send-keys", "-t", person.pane.pane, "Enter")
    await expect.poll(() => person.registry()?.status, SOON).toBe("waiting")
    const { messageId } = await deliver("ops", "<<SAY kiwi>>", { timeout: 0 })
    await expect.poll(async () => (await b.message(messageId)).reason, SOON).toContain("queued for the session")
    process.kill(person.pid, "SIGTERM")
    const answer = await b.until(messageId, ({ status }) => status === "done")
    expect(answer).toMatchObject({ answer: "kiwi", sessionId })
    expect(heard(person, "kiwi")).toEqual([])
    expect(b.prompts().filter((text) => text.includes("<<SAY kiwi>>"))).toHaveLength(1)
  })

  test("a daemon that is killed meanwhile delivers it once, and loses no answer", { timeout: SLOW_MS }, async () => {
    const { sessionId, person } = await opened("far")
    const { messageId } = await deliver("far", "Slowly.\nSLOW 3000\nREPLY at last", { timeout: 0 })
    await b.until(messageId, ({ status }) => status === "delivered" || status === "running")
    await b.home.kill()
    await b.home.run("start")
    const answer = await b.until(messageId, ({ status }) => status === "done", 60_000)
    expect(answer).toMatchObject({ answer: "at last", sessionId })
    expect(heard(person, "Slowly.")).toHaveLength(1)
    // Cancelled before delivery, it is never delivered.
    agents.tmux("a", "send-keys", "-t", person.pane.pane, "-l", "DIALOG rm x")
    agents.tmux("a", "send-keys", "-t", person.pane.pane, "Enter")
    await expect.poll(() => person.registry()?.status, SOON).toBe("waiting")
    const second = await deliver("far", "Never said.", { timeout: 0 })
    const cancelling = { operation: "cancel", messageId: second.messageId, fromTeam: "web" }
    expect(await b.call("teams_control", cancelling)).toMatchObject({ changed: true })
    agents.tmux("a", "send-keys", "-t", person.pane.pane, "Escape")
    await expect.poll(() => person.registry()?.status, SOON).toBe("idle")
    expect(await deliver("far", "After it.\nREPLY here")).toMatchObject({ answer: "here" })
    expect(heard(person, "Never said.")).toEqual([])
    expect(heard(person, "is withdrawn"), "nor that it is withdrawn").toEqual([])
  })

  test("cancelled after delivery, it ends as cancelled, and the session is told that it is withdrawn", {
    timeout: SLOW_MS,
  }, async () => {
    const { person } = await opened("late")
    const { messageId } = await deliver("late", "Take your time.\nSLOW 4000\nREPLY too late", { timeout: 0 })
    await b.until(messageId, ({ status }) => status === "delivered" || status === "running")
    const cancelling = { operation: "cancel", messageId, fromTeam: "web" }
    expect(await b.call("teams_control", cancelling)).toMatchObject({ changed: true })
    expect(await b.message(messageId)).toMatchObject({ status: "cancelled" })
    const said = /^\[Message (m-\w+) from web, via Throughline\]\n> Take your time/.exec(
      heard(person, "Take your time.")[0]!,
    )
    await expect.poll(() => heard(person, "is withdrawn"), SOON).toEqual([expect.stringContaining(said![1]!)])
    await expect.poll(() => person.registry()?.status, SOON).toBe("idle")
    expect(await b.message(messageId), "what is replied then changes nothing").toMatchObject({ status: "cancelled" })
    expect(b.states(messageId).at(-1)).toBe("cancelled")
  })
})
