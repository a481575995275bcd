import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { processStart } from "../../src/daemon/process/process-identity.ts"
import { ask, BIN, makeHome, type TestHome } from "../fixtures/daemon.ts"

const CLI = { CLAUDE_CODE_ENTRYPOINT: "cli", AI_AGENT: "claude-code_2-1-325_harness" }
const payload = (session_id: string) => JSON.stringify({ hook_event_name: "Stop", session_id, cwd: "/" })

let home: TestHome
beforeAll(async () => {
  home = makeHome()
  await home.json("setup", "claude-code", "--yes")
  await home.run("start")
}, 240_000)
afterAll(() => home.dispose())

/** As the agent's shell starts it; this process is the agent. */
function wait(kind: "hook.sh" | "node", env: Record<string, string> = CLI, session = "s1"): ChildProcess {
  const [command, args] =
    kind === "hook.sh"
      ? [join(home.dir, "hook.sh"), ["claude-code", "wait"]]
      : [process.execPath, [BIN, "hook", "claude-code", "wait"]]
  const child = spawn(command, args, { env: { ...home.env, ...env }, stdio: "pipe" })
  child.stdin.end(payload(session))
  return child
}
const codeOf = async (child: ChildProcess) => ((await once(child, "close")) as [number | null])[0]
const isOver = (child: ChildProcess, ms: number) => Promise.race([codeOf(child), sleep(ms, "still there")])

describe.each(["hook.sh", "node"] as const)("a background hook on %s", (kind) => {
  test("goes when another one waits for the same session, and that one stays through a restart of the daemon", async () => {
    const first = wait(kind)
    expect(await isOver(first, 1_500)).toBe("still there")
    const second = wait(kind)
    expect(await codeOf(first)).toBe(0)
    await home.kill()
    await home.run("start")
    expect(await isOver(second, 2_500)).toBe("still there")
    // It waits with the daemon that is there now, so that a third one takes its place.
    const third = wait(kind)
    expect(await codeOf(second)).toBe(0)
    third.kill("SIGKILL")
  }, 240_000)

  test.each([
    ["in print mode", { ...CLI, CLAUDE_CODE_ENTRYPOINT: "sdk-cli" }],
    ["in a version that might wait for it", { ...CLI, AI_AGENT: "claude-code_2-1-196_harness" }],
    ["in a version that does not say which one it is", { CLAUDE_CODE_ENTRYPOINT: "cli" }],
  ])(
    "does not wait %s",
    async (_, env) => {
      expect(await codeOf(wait(kind, env as Record<string, string>))).toBe(0)
    },
    20_000,
  )

  test.each(["2-1-197", "2-2-0", "3-0-1"])(
    "waits in version %s",
    async (version) => {
      const child = wait(kind, { ...CLI, AI_AGENT: `claude-code_${version}_harness` }, version)
      expect(await isOver(child, 1_000)).toBe("still there")
      child.kill("SIGKILL")
    },
    20_000,
  )
})

test("a background hook is gone soon after its agent was killed, and nothing of it stays", async () => {
  // A shell is the agent: it starts the background hook and says its number.
  const script = `printf '%s' '${payload("s9")}' | '${join(home.dir, "hook.sh")}' claude-code wait & echo $!; wait`
  const agent = spawn("sh", ["-c", script], { env: { ...home.env, ...CLI }, stdio: "pipe" })
  const [said] = (await once(agent.stdout, "data")) as [Buffer]
  const pid = Number(said.toString())
  await sleep(700)
  expect(processStart(pid)).toBeDefined()
  agent.kill("SIGKILL")
  await expect.poll(() => processStart(pid), { timeout: 60_000 }).toBeUndefined()
}, 240_000)

test("only the socket's owner can wait", async () => {
  const request = { path: "/wait/claude-code", body: payload("s2") }
  expect((await ask(home, request)).status).toBe(404)
  expect((await ask(home, { ...request, body: "{}", socket: true })).status).toBe(204)
})
