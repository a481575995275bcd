import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import type { PermissionView } from "../../src/operations/permissions.ts"
import { type AskAnswer, type AskingHome, makeAskingHome } from "../fixtures/asking.ts"
import { spawnCli } from "../fixtures/daemon.ts"
import { openTerminal } from "../fixtures/terminal.ts"
import { proves } from "../promises.ts"

const SOON = { timeout: 60_000, interval: 50 }
const isSettled = ({ status }: AskAnswer) => !["queued", "delivered", "seen", "running"].includes(status)

describe("an agent that asks before it acts", () => {
  let b: AskingHome
  beforeAll(async () => {
    b = await makeAskingHome({ api: {}, web: {} })
  })
  afterAll(() => b.dispose())

  /** Returns when its agent waits for a person's word. */
  const asked = async (command: string) => {
    const { messageId } = await b.ask("api", `<<RUN ${command.replaceAll(">", "»")}>>`, { timeout: 0 })
    const permission = await vi.waitFor(async () => {
      const { permissions } = await b.home.json<{ permissions: PermissionView[] }>("permissions")
      const mine = permissions.find(({ input }) => input.command === command)
      expect(mine).toBeDefined()
      return mine!
    }, SOON)
    return { messageId, permission, answer: () => b.until(messageId, isSettled) }
  }
  const answer = (...args: string[]) => b.home.run("permissions", "answer", ...args)
  const recent = async (id: string) =>
    (await b.home.json<{ permissions: PermissionView[] }>("permissions", "--all")).permissions.find(
      (one) => one.id === id,
    )
  const audited = async () =>
    (await b.home.json<{ entries: { who: string; what: string; data: Record<string, unknown> }[] }>("audit")).entries

  test(`is answered by a person who sees all of it, and by the first only. ${proves("permissions.person")}`, async () => {
    const proof = join(b.dirOf("api"), "proof.txt")
    const { permission, ...ask } = await asked("echo yes > proof.txt; cat proof.txt")
    expect(permission).toMatchObject({ team: "api", tool: "Bash", asker: "the owner → api", state: "waiting" })
    expect(existsSync(proof), "before it is allowed nothing is done").toBe(false)
    const { stdout } = await b.home.run("permissions")
    expect(stdout).toContain("  command: echo yes > proof.txt; cat proof.txt\n")
    const first = await answer(permission.id, "allow")
    expect(first.stdout).toContain(`${permission.id}  allowed by the owner`)
    expect(await ask.answer()).toMatchObject({ status: "done" })
    expect(readFileSync(proof, "utf8")).toBe("yes\n")
    expect((await answer(permission.id, "deny")).stdout).toMatch(/Too late.*allowed by the owner/)
    expect((await audited())[0]).toMatchObject({ who: "the owner", what: "permission.allowed", data: { team: "api" } })
  })

  test("is denied with the reason, which its model reads", async () => {
    const { permission, ...ask } = await asked("rm -r everything")
    await answer(permission.id, "deny", "--reason", "not on a Friday")
    expect((await ask.answer()).answer).toContain("Denied by the owner: not on a Friday")
  })

  test("does not ask again for an always-allowed command, and asks for any other", async () => {
    const { permission, ...ask } = await asked("echo same")
    expect(permission.suggestions).toEqual(["allow Bash(echo same) (localSettings)"])
    await answer(permission.id, "always")
    expect(await ask.answer()).toMatchObject({ status: "done" })
    expect(await b.ask("api", "<<RUN echo same>>")).toMatchObject({ status: "done" })
    const other = await asked("echo another")
    await answer(other.permission.id, "deny")
    await other.answer()
    expect((await audited()).find(({ data }) => data.rule !== undefined)).toMatchObject({
      data: { rule: "allow Bash(echo same) (localSettings)" },
    })
  })

  test("cannot be answered by an agent, from its shell or as its tool", async () => {
    const { permission, ...ask } = await asked("echo mine")
    const input = { id: permission.id, answer: "allow" }
    expect((await b.refused("permissions.answer", input, { surface: "cli", agentShell: "claude-code" })).code).toBe(
      "person_needed",
    )
    expect((await recent(permission.id))?.state).toBe("waiting")
    await answer(permission.id, "deny")
    await ask.answer()
  })

  test("asks no longer when its turn is cancelled", async () => {
    const { permission, messageId, ...ask } = await asked("echo late")
    await b.call("teams_control", { operation: "cancel", messageId })
    expect(await ask.answer()).toMatchObject({ status: "cancelled" })
    await vi.waitFor(async () => expect((await recent(permission.id))?.state).toBe("stale"), SOON)
    expect((await answer(permission.id, "allow")).stdout).toMatch(/Too late.*stale/)
  })

  test("is watched for and answered in a terminal", async () => {
    const terminal = openTerminal(b.home, { cwd: b.home.env.HOME! })
    try {
      terminal.run("throughline permissions --watch")
      await terminal.shows("Waiting for permission requests")
      const { permission, ...ask } = await asked("echo watched")
      await terminal.shows(`${permission.id}  the owner → api wants Bash`)
      await terminal.shows("[a]llow")
      terminal.type("yes")
      terminal.key("Enter")
      await expect.poll(() => terminal.lines().filter((line) => line.includes("[a]llow")).length, SOON).toBe(2)
      expect((await recent(permission.id))?.state, "nothing but the word allows").toBe("waiting")
      terminal.type("a")
      terminal.key("Enter")
      expect(await ask.answer()).toMatchObject({ status: "done" })
      const elsewhere = await asked("echo elsewhere")
      await terminal.shows(`${elsewhere.permission.id}  the owner`)
      await answer(elsewhere.permission.id, "deny")
      await terminal.shows("answered elsewhere")
      await elsewhere.answer()
    } finally {
      terminal.end()
    }
  })

  test("asks the very person who waits for its answer, in their terminal", async () => {
    const terminal = openTerminal(b.home, { cwd: b.home.env.HOME! })
    try {
      terminal.run(`throughline ask api '<<RUN echo mine » mine.txt>>'`)
      await terminal.shows(/ {2}the owner → api wants Bash/)
      await terminal.shows("command: echo mine > mine.txt")
      await terminal.shows("[a]llow")
      expect(existsSync(join(b.dirOf("api"), "mine.txt"))).toBe(false)
      terminal.type("a")
      terminal.key("Enter")
      await terminal.shows("allowed by the owner")
      expect(await terminal.exitCode()).toBe(0)
      expect(readFileSync(join(b.dirOf("api"), "mine.txt"), "utf8")).toBe("mine\n")

      terminal.run(`throughline ask api '<<RUN echo never>>'`)
      await terminal.shows("[a]llow")
      terminal.key("C-c")
      await terminal.shows(/The question continues as m-[0-9a-f]{16}\./)
      const messageId = /continues as (m-[0-9a-f]{16})/.exec(terminal.lines().join("\n"))![1]!
      expect(await terminal.exitCode()).toBe(130)
      const commands = terminal
        .lines()
        .flatMap((line) => /throughline (teams (?:status|control) .*)$/.exec(line)?.[1] ?? [])
      expect(commands).toHaveLength(2)
      const [read, cancel] = await Promise.all([b.home.run(...commands[0]!.split(" ")), b.message(messageId)])
      expect(read.stdout).toContain(messageId)
      expect(cancel).toMatchObject({ status: "running", reason: "waiting for a person to allow Bash" })
      expect((await b.home.run(...commands[1]!.split(" "))).code).toBe(0)
      expect(await b.until(messageId, isSettled)).toMatchObject({ status: "cancelled" })
    } finally {
      terminal.end()
    }
  })

  test("says without a terminal what it is waiting for and how to answer, and Ctrl-C says that the question stays open", async () => {
    const child = spawnCli(b.home, ["ask", "api", "<<RUN echo piped>>"])
    const childClosed = once(child, "close")
    let said = ""
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk
    })
    await expect.poll(() => said, SOON).toMatch(/throughline permissions answer (\S+) allow/)
    expect(said).toContain("command: echo piped")
    await answer(/permissions answer (\S+) allow/.exec(said)![1]!, "allow")
    expect(await childClosed).toEqual([0, null])

    const left = spawnCli(b.home, ["ask", "api", "<<RUN echo left>>"])
    const leftClosed = once(left, "close")
    let told = ""
    left.stderr.on("data", (chunk: Buffer) => {
      told += chunk
    })
    await expect.poll(() => told, SOON).toContain("throughline permissions answer")
    left.kill("SIGINT")
    expect(await leftClosed).toEqual([130, null])
    const messageId = /The question continues as (m-[0-9a-f]{16})/.exec(told)?.[1]
    expect(messageId).toBeDefined()
    await b.home.run("teams", "control", "cancel", "--message-id", messageId!)
    await b.until(messageId!, isSettled)
  })

  test("says so too with --thread and --timeout, and then says how to read the answer", async () => {
    const child = spawnCli(b.home, ["ask", "api", "<<RUN echo limited>>", "--thread", "other", "--timeout", "8000"])
    const closed = once(child, "close")
    let [said, told] = ["", ""]
    child.stdout.on("data", (chunk: Buffer) => {
      said += chunk
    })
    child.stderr.on("data", (chunk: Buffer) => {
      told += chunk
    })
    expect(await closed, told).toEqual([0, null])
    expect(told).toContain("api (other) wants Bash")
    const [id] = /throughline permissions answer \S+ allow/.exec(told) ?? []
    expect(id, told).toBeDefined()
    const messageId = /^(m-[0-9a-f]{16}) to api is running: waiting for a person/m.exec(said)?.[1]
    expect(messageId, said).toBeDefined()
    expect(said).toContain(`throughline teams status --message-id ${messageId}`)
    await b.home.run("teams", "control", "cancel", "--message-id", messageId!)
    await b.until(messageId!, isSettled)
  })

  test("that waits when the daemon is killed is stale after it, and nothing is done", async () => {
    const { permission, messageId } = await asked("echo killed > killed.txt")
    await b.home.kill()
    await b.home.run("start")
    expect(await recent(permission.id)).toMatchObject({ state: "stale", reason: "the daemon was restarted" })
    expect((await answer(permission.id, "allow")).stdout).toMatch(/Too late/)
    await b.until(messageId, isSettled)
    expect(existsSync(join(b.dirOf("api"), "killed.txt"))).toBe(false)
  })
})

test("old decisions are dropped, and the audit keeps who decided", async () => {
  const b = await makeAskingHome({ api: {} }, { env: { THROUGHLINE_PERMISSIONS_KEEP_DAYS: "0.0000001" } })
  const { messageId } = await b.ask("api", "<<RUN ls>>", { timeout: 0 })
  const listed = async (...flags: string[]) =>
    (await b.home.json<{ permissions: PermissionView[] }>("permissions", ...flags)).permissions
  const { id } = await vi.waitFor(async () => {
    const [first] = await listed()
    expect(first).toBeDefined()
    return first!
  }, SOON)
  await b.home.run("permissions", "answer", id, "deny")
  await b.until(messageId, isSettled)
  await b.home.run("stop")
  await b.home.run("start")
  await expect.poll(() => listed("--all"), SOON).toEqual([])
  expect((await b.home.run("audit")).stdout).toContain("permission.denied")
  await b.dispose()
})
