import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import type { PermissionView } from "../../src/operations/permissions.ts"
import { ask, BIN, makeHome, type TestHome } from "../fixtures/daemon.ts"

const SOON = { timeout: 60_000, interval: 50 }
let home: TestHome
beforeAll(async () => {
  home = makeHome()
  await home.json("setup", "claude-code", "--yes")
  await home.run("start")
}, 240_000)
afterAll(() => home.dispose())

let nth = 0
const payloadOf = (values: object = {}) => ({
  hook_event_name: "PermissionRequest",
  session_id: `s${++nth}`,
  cwd: home.env.HOME,
  tool_name: "Bash",
  tool_input: { command: "ls" },
  permission_suggestions: [
    { type: "addDirectories", directories: ["/srv"], destination: "session" },
    { type: "setMode", mode: "acceptEdits", destination: "session" },
  ],
  ...values,
})
type Kind = "hook.sh" | "node"
/** As the agent's shell starts it; this process is the agent. */
function start(kind: Kind, payload: object, env: Record<string, string> = { CLAUDE_CODE_ENTRYPOINT: "cli" }) {
  const [command, args] =
    kind === "hook.sh"
      ? [join(home.dir, "hook.sh"), ["claude-code", "ask"]]
      : [process.execPath, [BIN, "hook", "claude-code", "ask"]]
  const child = spawn(command, args, { env: { ...home.env, ...env }, stdio: "pipe" })
  child.stdin.end(JSON.stringify(payload))
  let said = ""
  child.stdout.on("data", (chunk) => (said += chunk))
  const over = once(child, "close").then(() => said)
  return { child: child as ChildProcess, over, isOver: (ms: number) => Promise.race([over, sleep(ms, "still there")]) }
}
const post = async <T>(name: string, input: object) => {
  const caller = encodeURIComponent(JSON.stringify({ surface: "cli", cwd: "/" }))
  const headers = { "throughline-caller": caller }
  return (await ask(home, { path: `/api/${name}`, body: JSON.stringify(input), socket: true, headers })).json<T>()
}
const waiting = async () => (await post<{ permissions: PermissionView[] }>("permissions.list", {})).permissions
const recent = async (id: string) =>
  (await post<{ permissions: PermissionView[] }>("permissions.list", { all: true })).permissions.find(
    (one) => one.id === id,
  )!
let watching: NodeJS.Timeout | undefined
afterEach(() => clearInterval(watching))
/** Somebody watches until the test ends, so that hooks wait, however long its steps take. */
const asked = async (kind: Kind, values: object = {}) => {
  clearInterval(watching)
  watching = setInterval(() => waiting().catch(() => {}), 2_000)
  const before = (await waiting()).map(({ id }) => id)
  const payload = payloadOf(values)
  const hook = start(kind, payload)
  let found: PermissionView | undefined
  await expect.poll(async () => (found = (await waiting()).find(({ id }) => !before.includes(id))), SOON).toBeDefined()
  return { hook, payload, permission: found! }
}
const answer = (id: string, word: string, more: object = {}) =>
  post<{ accepted: boolean; permission: PermissionView }>("permissions.answer", { id, answer: word, ...more })
const decisionOf = (said: string) => JSON.parse(said).hookSpecificOutput.decision

describe.each<Kind>(["hook.sh", "node"])("a hook that asks, on %s", (kind) => {
  test("is released at once, without output, if nobody can answer", async () => {
    // Longer than a page counts as looked at after its last look.
    await sleep(16_000)
    const began = performance.now()
    expect(await start(kind, payloadOf()).over).toBe("")
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(await waiting()).toEqual([])
  }, 240_000)

  test("prints the decision, with the one chosen rule", async () => {
    const one = await asked(kind)
    expect(one.permission).toMatchObject({ tool: "Bash", asker: expect.stringMatching(/^Claude Code in /) })
    expect(one.permission.suggestions).toEqual(["allow /srv (session)", "permission mode acceptEdits (session)"])
    const beganMs = performance.now()
    expect((await answer(one.permission.id, "always", { which: 1 })).accepted).toBe(true)
    expect(decisionOf(await one.hook.over)).toEqual({
      behavior: "allow",
      updatedPermissions: [{ type: "addDirectories", directories: ["/srv"], destination: "session" }],
    })
    expect(performance.now() - beganMs).toBeLessThan(20_000)
    const two = await asked(kind)
    await answer(two.permission.id, "deny", { reason: "not now" })
    expect(decisionOf(await two.hook.over)).toEqual({ behavior: "deny", message: "Denied by the owner: not now" })
    expect((await answer(two.permission.id, "allow")).accepted).toBe(false)
  }, 240_000)

  test("asks the daemon that comes next, under the same id, and its answer arrives", async () => {
    const { hook, permission } = await asked(kind)
    await home.kill()
    await home.run("start")
    expect((await answer(permission.id, "allow")).accepted).toBe(true)
    expect(decisionOf(await hook.over)).toEqual({ behavior: "allow" })
  }, 240_000)

  test("returns at once without output if the daemon is down, and spools nothing", async () => {
    await home.run("stop")
    const began = performance.now()
    expect(await start(kind, payloadOf()).over).toBe("")
    expect(performance.now() - began).toBeLessThan(20_000)
    await home.run("start")
  }, 240_000)

  test("does not wait in an SDK's process: there the program is asked", async () => {
    await waiting()
    expect(await start(kind, payloadOf(), { CLAUDE_CODE_ENTRYPOINT: "sdk-cli" }).over).toBe("")
  })

  test("makes its question stale when it is killed, and an answer says so", async () => {
    const { hook, permission } = await asked(kind)
    // What carries its question stays, and would take the answer to nobody.
    await sleep(500)
    hook.child.kill("SIGKILL")
    // The kernel closes what it had open a moment later.
    await sleep(200)
    const { accepted, permission: now } = await answer(permission.id, "allow")
    expect([accepted, now.state]).toEqual([false, "stale"])
  }, 240_000)

  test("takes no answer once its agent stopped reading: it is not recorded as allowed, and says why", async () => {
    const { hook, permission } = await asked(kind)
    // The hook goes on, as one that its agent is about to kill.
    hook.child.stdout!.destroy()
    const { accepted, permission: now } = await answer(permission.id, "allow")
    expect(accepted).toBe(false)
    expect(now).toMatchObject({ state: "stale", reason: expect.stringContaining("the agent had already gone on") })
    expect(await recent(permission.id)).toMatchObject({ state: "stale" })
  }, 240_000)

  test.each([
    ["the tool ran", { hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "ls" } }],
    ["the tool failed", { hook_event_name: "PostToolUseFailure", tool_name: "Bash", tool_input: { command: "ls" } }],
    ["the turn ended", { hook_event_name: "Stop" }],
    ["the session ended", { hook_event_name: "SessionEnd", reason: "other" }],
  ])(
    "is let go when %s: the terminal was first",
    async (_, said) => {
      const { hook, payload, permission } = await asked(kind)
      const body = JSON.stringify({ session_id: payload.session_id, cwd: payload.cwd, ...said })
      await sleep(100)
      const began = performance.now()
      await ask(home, { path: "/hook/claude-code", body, socket: true })
      expect(await hook.over).toBe("")
      expect(performance.now() - began).toBeLessThan(20_000)
      expect(await recent(permission.id)).toMatchObject({ state: "stale", reason: "answered at the terminal" })
    },
    20_000,
  )

  test("keeps waiting while another tool of the turn runs, and while its own tool runs in another agent", async () => {
    const { hook, payload, permission } = await asked(kind)
    const say = (values: object) =>
      ask(home, {
        path: "/hook/claude-code",
        body: JSON.stringify({ session_id: payload.session_id, cwd: payload.cwd, ...values }),
        socket: true,
      })
    await say({ hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "pwd" } })
    await say({ hook_event_name: "PostToolUse", tool_name: "Bash", tool_input: { command: "ls" }, agent_id: "a1" })
    expect(await hook.isOver(1_000)).toBe("still there")
    await answer(permission.id, "allow")
    expect(decisionOf(await hook.over)).toEqual({ behavior: "allow" })
  }, 240_000)

  test("of a sub-agent says that nothing is on the screen, and waits for at most a minute", async () => {
    const { hook, permission } = await asked(kind, { agent_id: "a1", agent_type: "Explore" })
    expect(permission.asker).toMatch(/sub-agent Explore \(nothing of it is on the screen\)$/)
    expect(Date.parse(permission.expiresAt) - Date.parse(permission.askedAt)).toBe(60_000)
    await answer(permission.id, "allow")
    await hook.over
  }, 240_000)
})

test("a question that the terminal answered before its hook came to wait is let go", async () => {
  await waiting()
  const payload = payloadOf()
  const headers = { "throughline-key": "early", "throughline-env-CLAUDE_CODE_ENTRYPOINT": "cli" }
  const step = (query: string) =>
    ask(home, { path: `/ask/claude-code${query}`, body: JSON.stringify(payload), headers, socket: true })
  const { status } = await step("")
  const [permission] = await waiting()
  expect(permission).toMatchObject({ state: "waiting", tool: "Bash" })
  const body = JSON.stringify({ ...payload, hook_event_name: "PostToolUse" })
  await ask(home, { path: "/hook/claude-code", body, socket: true })
  const held = await step("?held")
  expect([status, held.status]).toEqual([202, 204])
  expect(await recent(permission!.id)).toMatchObject({ state: "stale", reason: "answered at the terminal" })
}, 240_000)

test("only the socket's owner can ask", async () => {
  expect((await ask(home, { path: "/ask/claude-code", body: "{}" })).status).toBe(404)
  expect((await ask(home, { path: "/ask/claude-code", body: "{}", socket: true })).status).toBe(204)
})
