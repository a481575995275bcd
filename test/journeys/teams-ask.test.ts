import { renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { processStart } from "../../src/daemon/process/process-identity.ts"
import { type AskAnswer, type AskingHome, makeAskingHome } from "../fixtures/asking.ts"
import { connect } from "../fixtures/mcp.ts"
import { proves } from "../promises.ts"

const isSettled = ({ status }: AskAnswer) => !["queued", "delivered", "seen", "running"].includes(status)

describe("teams that ask each other", () => {
  let b: AskingHome
  beforeAll(async () => {
    b = await makeAskingHome({ web: {}, api: {}, docs: { skipPermissions: true }, gone: {} })
  })
  afterAll(() => b.dispose())
  const as = (team: string) => ({ surface: "mcp", key: `of-${team}`, projectDir: b.dirOf(team), cwd: b.dirOf(team) })
  const askAs = (from: string, team: string, question: string, more: object = {}) =>
    b.call<AskAnswer>("teams_ask", { team, question, ...more }, as(from))

  test(`20 first questions at once make one session and get 20 answers in order. ${proves("teams.ask")}`, async () => {
    const words = Array.from({ length: 20 }, (_, index) => `word${index}`)
    const sent = words.map((word) => askAs("web", "api", `<<SAY ${word}>>`))
    const answers = await Promise.all(sent)
    expect(answers.map(({ answer }) => answer)).toEqual(words)
    expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(answers.map(({ from, to, status }) => `${from} ${to} ${status}`)).toEqual(words.map(() => "web api done"))
    expect(b.transcripts()).toHaveLength(1)
    const order = b.prompts().map((text) => /m-[0-9a-f]{16}/.exec(text)![0])
    expect(order, "in the order in which they came").toEqual(b.taken())
    expect(b.modelCalls()).toBe(20)
    expect(b.states(answers[0]!.messageId)).toEqual(["queued", "delivered", "running", "done"])
    const [pair] = (await b.status()).pairs
    expect(pair).toMatchObject({ from: "web", to: "api", threadId: "main", messages: 20, status: "active" })
  })

  test("each pair and each thread remembers its own, and a person's is another", async () => {
    await askAs("web", "docs", "<<SAY plum>>")
    await askAs("web", "docs", "<<SAY fig>>", { threadId: "fruit" })
    await askAs("api", "docs", "<<SAY pear>>")
    await b.ask("docs", "<<SAY quince>>")
    const recalled = await Promise.all([
      askAs("web", "docs", "<<RECALL 1>>"),
      askAs("web", "docs", "<<RECALL 2>>", { threadId: "fruit" }),
      askAs("api", "docs", "<<RECALL 3>>"),
      b.ask("docs", "<<RECALL 4>>"),
    ])
    expect(recalled.map(({ answer }) => answer)).toEqual([
      "heard: plum 1",
      "heard: fig 2",
      "heard: pear 3",
      "heard: quince 4",
    ])
  })

  test("a question under the same key is asked once", async () => {
    const caller = { ...as("web"), idempotencyKey: "k1" }
    const [one, two] = await Promise.all(
      [1, 2].map(() => b.call<AskAnswer>("teams_ask", { team: "api", question: "<<SAY once>>" }, caller)),
    )
    expect([one!.messageId, one!.answer]).toEqual([two!.messageId, "once"])
    expect(b.prompts().filter((text) => text.includes("<<SAY once>>"))).toHaveLength(1)
  })

  test("who does not wait gets the true state, and the answer later", async () => {
    const now = await askAs("web", "api", "<<SLOW 300>>", { timeout: 0 })
    expect(now).toMatchObject({ status: "queued", messageId: expect.stringMatching(/^m-/) })
    const late = await askAs("web", "api", "<<SAY later>>", { timeout: 100 })
    expect(late.status).toBe("queued")
    expect(await b.until(late.messageId, isSettled)).toMatchObject({ status: "done", answer: "later" })
  })

  test("the agent is killed mid-turn: reported within a second, resumed with the next question, delivered once", async () => {
    await askAs("web", "api", "<<SAY before>>")
    const { messageId, sessionId } = await askAs("web", "api", "half <<HOLD x>>", { timeout: 0 })
    await b.until(messageId, ({ status }) => status === "delivered" || status === "running")
    await expect.poll(() => b.prompts().filter((text) => text.includes(messageId)).length).toBe(1)
    const pid = await b.pidOf("api", "web")
    const killedMs = Date.now()
    process.kill(pid, "SIGKILL")
    const failed = await b.until(messageId, isSettled)
    expect(Date.now() - killedMs).toBeLessThan(20_000)
    expect(failed).toMatchObject({ status: "failed", reason: expect.stringContaining("SIGKILL") })
    const next = await askAs("web", "api", "<<SAY after>>")
    expect(next).toMatchObject({ status: "done", answer: "after", sessionId })
    expect(next.contextIsNew).toBeUndefined()
    expect(b.prompts().filter((text) => text.includes(messageId))).toHaveLength(1)
  })

  test("one's control never touches another's; a cancelled turn ends within a second", async () => {
    const mine = await askAs("web", "docs", "<<HOLD mine>>", { timeout: 0 })
    const other = await askAs("api", "docs", "<<SLOW 1500>> ", { timeout: 0 })
    await b.until(mine.messageId, ({ status }) => status === "delivered")
    await b.until(other.messageId, ({ status }) => status === "delivered")
    const refused = await b.refused("teams_control", { operation: "cancel", messageId: other.messageId }, as("web"))
    expect(refused).toMatchObject({ code: "bad_input", message: expect.stringContaining("was asked by api") })
    const posing = await b.refused("teams_control", { operation: "cancel", team: "docs", fromTeam: "api" }, as("web"))
    expect(posing.message).toContain('fromTeam is "api", but you are of web')
    const busy = await b.refused("teams_control", { operation: "sleep", team: "docs" }, as("web"))
    expect(busy.code).toBe("agent_busy")
    const pid = await b.pidOf("docs", "api")
    const startMs = Date.now()
    const cancelled = await b.call<{ changed: boolean }>(
      "teams_control",
      { operation: "cancel", team: "docs" },
      as("web"),
    )
    expect(Date.now() - startMs).toBeLessThan(20_000)
    expect(cancelled.changed).toBe(true)
    expect((await b.message(mine.messageId)).status).toBe("cancelled")
    expect((await askAs("web", "docs", "<<SAY works>>")).answer).toBe("works")
    await b.call("teams_control", { operation: "reset", team: "docs", force: true }, as("web"))
    expect(await b.until(other.messageId, isSettled)).toMatchObject({ status: "done" })
    expect(await b.pidOf("docs", "api")).toBe(pid)
    expect((await askAs("api", "docs", "<<RECALL still>>")).answer).toContain("pear")
  })

  test("sleep, wake, reset, fork, compact and archive work", async () => {
    const control = (operation: string, more: object = {}) =>
      b.call<{ changed: boolean; note: string; pair: { process: string; status: string } }>("teams_control", {
        operation,
        team: "web",
        ...more,
      })
    expect((await b.refused("teams_control", { operation: "wake", team: "web" })).code).toBe("pair_not_found")
    const { sessionId } = await b.ask("web", "<<SAY kiwi>>")
    const pid = await b.pidOf("web")
    expect(await control("sleep")).toMatchObject({ changed: true, pair: { process: "asleep" } })
    expect(processStart(pid)).toBeUndefined()
    expect(await control("wake")).toMatchObject({ changed: true, pair: { process: "idle" } })
    expect(await b.ask("web", "<<RECALL a>>")).toMatchObject({ answer: "heard: kiwi a", sessionId })
    expect(await control("compact")).toMatchObject({ changed: true })
    const { note } = await control("fork")
    const [threadId] = /main-fork-\w+/.exec(note)!
    const copy = await b.ask("web", "<<RECALL b>>", { threadId })
    expect(copy.answer).toBe("heard: kiwi a b")
    expect(copy.sessionId).not.toBe(sessionId)
    expect((await b.ask("web", "<<RECALL c>>")).answer).toBe("heard: kiwi a c")
    expect(await control("archive")).toMatchObject({ pair: { status: "archived", process: "asleep" } })
    expect((await b.ask("web", "<<RECALL d>>")).answer).toBe("heard: kiwi a c d")
    await control("reset")
    const fresh = await b.ask("web", "<<RECALL e>>")
    expect(fresh).toMatchObject({ answer: "heard: e", contextIsNew: true })
    expect((await b.ask("web", "<<RECALL f>>")).contextIsNew).toBeUndefined()
  })

  test("a session whose file is gone is replaced by one that knows its history, and the asker is informed", async () => {
    const { sessionId } = await askAs("docs", "web", "The harbour is called Ostrava. <<SAY noted>>")
    // Kept by then: what is known of it comes from the archive.
    await expect
      .poll(async () => (await b.home.run("search", "Ostrava")).stdout, { timeout: 60_000 })
      .toContain("Ostrava")
    await b.call("teams_control", { operation: "sleep", team: "web" }, as("docs"))
    const file = b.transcripts().find((name) => name.includes(sessionId!))!
    renameSync(join(b.home.env.HOME!, ".claude", "projects", file), join(b.home.env.HOME!, "aside.jsonl"))
    const after = await askAs("docs", "web", "<<SAY anew>>")
    expect(after).toMatchObject({ status: "done", answer: "anew", contextIsNew: true })
    expect(after.sessionId).not.toBe(sessionId)
    expect(b.prompts().at(-1) + b.prompts().find((text) => text.includes(after.messageId))!).toContain("Ostrava")
  })

  test("invalid input is named, and questions to others continue", async () => {
    const other = await askAs("web", "docs", "<<SLOW 800>>", { timeout: 0 })
    const refuse = async (input: object, caller?: object) => {
      const { code, message } = await b.refused("teams_ask", { question: "x", ...input }, caller)
      return `${code}: ${message}`
    }
    expect(await refuse({ team: "nobody" })).toMatch(/bad_input: team: there is no team "nobody" \(known: web, api/)
    expect(await refuse({ team: "api", fromTeam: "nobody" })).toContain('fromTeam: there is no team "nobody"')
    expect(await refuse({ team: "api", timeout: -1 })).toContain("timeout must be at least 0, got -1")
    expect(await refuse({ team: "api", timeout: 1e15 })).toContain("timeout must be at most 3,600,000")
    expect(await refuse({ team: "api", question: " " })).toContain("question is empty")
    expect(await refuse({ team: "api", question: "x".repeat(5_000_000) })).toContain(
      "too_large: question has 5,000,000 bytes",
    )
    expect(await refuse({ team: "api" }, as("api"))).toContain("ask_loop: api cannot ask itself")
    rmSync(b.dirOf("gone"), { recursive: true })
    expect(await b.ask("gone", "x")).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("does not exist"),
    })
    expect(await b.ask("web", "<<GARBAGE fine>>")).toMatchObject({ status: "done", answer: "fine" })
    expect(await b.ask("web", "<<FAIL overloaded>>")).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("overloaded"),
    })
    expect((await b.until(other.messageId, isSettled)).status).toBe("done")
  })

  test("a loop is cut, with the chain named", async () => {
    const outer = await askAs("web", "api", "<<HOLD nested>>", { timeout: 0 })
    await b.until(outer.messageId, ({ status }) => status === "delivered")
    const session = (await b.status()).pairs.find(({ from, to }) => from === "web" && to === "api")!.sessionId
    const caller = { surface: "mcp", nativeSession: { platform: "claude-code", id: session }, cwd: "/" }
    expect((await b.call<AskAnswer>("teams_ask", { team: "docs", question: "<<SAY deep>>" }, caller)).answer).toBe(
      "deep",
    )
    const refused = await b.refused("teams_ask", { team: "web", question: "x" }, caller)
    expect(refused).toMatchObject({ code: "ask_loop", message: expect.stringContaining("web → api → web") })
    await b.call("teams_control", { operation: "cancel", messageId: outer.messageId })
  })

  test.each(["stdio", "http"] as const)(
    "an agent over %s hears how it goes while it waits",
    async (transport) => {
      const agent = await connect(b.home, { transport, cwd: b.dirOf("web") })
      // The first call of a connection goes another way through the protocol than those after it.
      for (const which of ["first", "second"]) {
        const heard: (string | undefined)[] = []
        const request = {
          name: "teams_ask",
          arguments: { team: "docs", question: "<<SLOW 2400>>", threadId: transport },
        }
        const result = await agent.client.callTool(request, { onprogress: ({ message }) => void heard.push(message) })
        expect(result.structuredContent, which).toMatchObject({ status: "done", answer: "2400" })
        expect(heard.length, which).toBeGreaterThan(0)
        expect(heard.at(-1), which).toMatch(/^docs: (queued|delivered|running), /)
      }
      await agent.close()
    },
    30_000,
  )

  test("on the command line the answer streams", async () => {
    const { code, stdout } = await b.home.run("ask", "docs", "<<SAY", "apricot", "jam>>")
    expect([code, stdout]).toEqual([0, "apricot jam\n"])
    const failed = await b.home.run("ask", "docs", "<<FAIL no>>")
    expect([failed.code, failed.stderr]).toEqual([6, expect.stringContaining("is failed")])
    expect((await b.home.json<AskAnswer>("ask", "docs", "<<SAY x>>")).answer).toBe("x")
    expect((await b.home.run("teams", "threads")).stdout).toMatch(/web +api +main/)
    expect((await b.home.run("teams", "status")).stdout).toMatch(/MEMORY[\s\S]*\d+ MB/)
  })

  test("a notice waits for the team's next session, or its agent that asks, and is read once", async () => {
    const notify = (message: string, more: object = {}) =>
      b.call<{ messageId: string; expiresAt: string }>("teams_notify", { toTeam: "api", message, ...more }, as("web"))
    const { messageId, expiresAt } = await notify("The schema changes on Monday.")
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(29 * 24 * 3_600_000)
    const pulled = await b.call<{ updates: { content: string; message_id: string }[] }>(
      "pull_updates",
      { target: "api" },
      { ...as("api"), nativeSession: { platform: "claude-code", id: "a-session-of-its-own" } },
    )
    const mine = pulled.updates.filter(({ message_id }) => message_id === messageId)
    expect(mine.map(({ content }) => content)).toEqual([
      `[Notice ${messageId} from web, via Throughline]\n> The schema changes on Monday.`,
    ])
    expect((await b.message(messageId)).status).toBe("done")
    const short = await notify("gone soon", { ttlDays: 0.000001 })
    await b.until(short.messageId, ({ status }) => status === "expired")
  })

  test("a person lists, reads and dismisses notices, and a dismissed one is shown to nobody", async () => {
    const { messageId } = await b.call<{ messageId: string }>(
      "teams_notify",
      { toTeam: "docs", message: "The schema stays as it is." },
      as("web"),
    )
    expect((await b.home.run("notices")).stdout).toMatch(new RegExp(`docs +${messageId} +web: The schema stays`))
    expect((await b.home.run("notices", "--team", "api")).stdout).not.toContain(messageId)
    expect((await b.home.run("notices", "show", messageId)).stdout).toMatch(/unread\n\nThe schema stays as it is\./)
    expect((await b.home.run("notices", "dismiss", messageId)).stdout).toBe(`Dismissed ${messageId}.\n`)
    expect((await b.home.run("notices", "dismiss", messageId)).stdout).toMatch(/was already read or dismissed/)
    expect((await b.home.run("notices")).stdout).not.toContain(messageId)
    const pulled = await b.call<{ updates: { message_id: string }[] }>(
      "pull_updates",
      { target: "docs" },
      { ...as("docs"), nativeSession: { platform: "claude-code", id: "another-session-of-its-own" } },
    )
    expect(pulled.updates.filter(({ message_id }) => message_id === messageId)).toEqual([])
    expect((await b.home.run("notices", "show", "m-0000000000000000")).code).not.toBe(0)
  })
})

describe("the daemon is killed in the middle of a turn", () => {
  let b: AskingHome
  beforeAll(async () => {
    b = await makeAskingHome({ web: {}, api: {} })
  })
  afterAll(() => b.dispose())

  test("the answer is not lost if the agent finished", async () => {
    await b.ask("api", "<<SAY first>>")
    const { messageId } = await b.ask("api", "<<SLOW 700>>", { timeout: 0 })
    await b.until(messageId, ({ status }) => status === "delivered")
    await b.home.kill()
    await b.home.run("start")
    const found = await b.until(messageId, isSettled)
    expect(found).toMatchObject({ status: "done", answer: "700" })
    expect((await b.ask("api", "<<RECALL x>>")).answer).toBe("heard: first 700 x")
    expect(b.prompts().filter((text) => text.includes(messageId))).toHaveLength(1)
  })

  test("a session whose file went missing meanwhile is marked, and followed by a new one", async () => {
    const { sessionId } = await b.ask("web", "The pier is named Ulla. <<SAY noted>>")
    const search = async () => (await b.home.run("search", "Ulla")).stdout
    await expect.poll(search, { timeout: 60_000 }).toContain("Ulla")
    await b.call("teams_control", { operation: "sleep", team: "web" })
    await b.home.kill()
    rmSync(join(b.home.env.HOME!, ".claude", "projects", b.transcripts().find((name) => name.includes(sessionId!))!))
    await b.home.run("start")
    const status = async () => (await b.status()).pairs.find(({ to }) => to === "web")!.status
    await expect.poll(status, { timeout: 60_000 }).toBe("missing")
    const next = await b.ask("web", "<<SAY anew>>")
    expect(next).toMatchObject({ answer: "anew", contextIsNew: true })
    expect(b.prompts().find((text) => text.includes(next.messageId))).toContain("Ulla")
    expect(await status()).toBe("active")
  })

  test("it fails if the agent ended without an answer, and the next question is asked", async () => {
    const { messageId } = await b.ask("api", "<<HOLD it>>", { timeout: 0 })
    const waiting = await b.ask("api", "<<SAY behind>>", { timeout: 0 })
    await b.until(messageId, ({ status }) => status === "delivered")
    await expect.poll(() => b.prompts().filter((text) => text.includes(messageId)).length).toBe(1)
    const pid = await b.pidOf("api")
    await b.home.kill()
    await b.home.run("start")
    await sleep(500)
    expect((await b.message(messageId)).status, "its agent is at it still").toBe("delivered")
    process.kill(pid, "SIGKILL")
    expect(await b.until(messageId, isSettled)).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("before it answered"),
    })
    expect(await b.until(waiting.messageId, isSettled)).toMatchObject({ status: "done", answer: "behind" })
    expect(b.prompts().filter((text) => text.includes(waiting.messageId))).toHaveLength(1)
  })
})

describe("processes", () => {
  let b: AskingHome
  beforeAll(async () => {
    b = await makeAskingHome(
      { one: {}, two: {}, three: {}, brief: { idleTimeout: 1_000 } },
      { settings: { maxProcesses: 2 } },
    )
  })
  afterAll(() => b.dispose())
  const running = async () => (await b.status()).processes.map(({ to }) => to).toSorted()

  test("the least recently used process is evicted, never a busy one, and a question without a process waits", async () => {
    await b.ask("one", "<<SAY 1>>")
    await b.ask("two", "<<SAY 2>>")
    await b.ask("one", "<<SAY 3>>")
    await b.ask("three", "<<SAY 4>>")
    expect(await running()).toEqual(["one", "three"])
    const held = [
      await b.ask("one", "<<SLOW 800>>", { timeout: 0 }),
      await b.ask("three", "<<SLOW 800>>", { timeout: 0 }),
    ]
    for (const { messageId } of held) await b.until(messageId, ({ status }) => status === "delivered")
    const waits = await b.ask("two", "<<SAY room>>", { timeout: 200 })
    expect(waits).toMatchObject({ status: "queued", reason: expect.stringContaining("all 2 allowed processes") })
    expect(await b.until(waits.messageId, isSettled)).toMatchObject({ status: "done", answer: "room" })
    for (const { messageId } of held) expect((await b.message(messageId)).status).toBe("done")
  })

  test("one that idles is ended, and resumed with the next question", async () => {
    await b.ask("brief", "<<SAY here>>")
    await expect.poll(running, { timeout: 60_000 }).not.toContain("brief")
    expect((await b.ask("brief", "<<RECALL x>>")).answer).toBe("heard: here x")
  })

  test("a long silence is a turn that runs", async () => {
    const { messageId } = await b.ask("brief", "<<SLOW 2500>>", { timeout: 0 })
    await sleep(2_000)
    const now = await b.message(messageId)
    expect(["delivered", "running"]).toContain(now.status)
    expect(now.reason, "no word of the process").toBe("the agent is working on it")
    expect((await b.until(messageId, isSettled)).status).toBe("done")
  })
})

test("an agent that cannot be started fails the question with its own words, and costs no context", async () => {
  const b = await makeAskingHome({ web: {} })
  await b.ask("web", "<<SAY kept>>")
  await b.call("teams_control", { operation: "sleep", team: "web" })
  const program = join(b.home.env.HOME!, "fake-agent")
  renameSync(program, `${program}.aside`)
  writeFileSync(program, "#!/bin/sh\necho 'no room to start' >&2\nexit 1\n", { mode: 0o755 })
  expect(await b.ask("web", "x")).toMatchObject({
    status: "failed",
    reason: expect.stringContaining("no room to start"),
  })
  renameSync(`${program}.aside`, program)
  expect((await b.ask("web", "<<RECALL x>>")).answer).toBe("heard: kept x")
  await b.dispose()
})
