import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { makeHome, spawnCli, type TestHome } from "../fixtures/daemon.ts"
import { runHook } from "../fixtures/hooks.ts"
import { connect } from "../fixtures/mcp.ts"

const SOON = { timeout: 60_000, interval: 50 }
let home: TestHome
let cwd: string
beforeAll(async () => {
  home = makeHome()
  cwd = join(home.env.HOME!, "api")
  mkdirSync(cwd)
  mkdirSync(join(home.env.HOME!, ".claude"))
  mkdirSync(home.dir, { recursive: true })
  writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams: { api: { project: cwd } } }))
  await home.json("setup", "claude-code", "--yes")
  await home.run("start")
})
afterAll(() => home.dispose())

const begins = (session_id: string, pid: number, source: string) =>
  runHook(home, { hook_event_name: "SessionStart", session_id, source, cwd }, { env: { CLAUDE_PID: String(pid) } })

test("`updates --follow` prints updates across a kill of the daemon, and none twice", async () => {
  const agent = spawn("sleep", ["60"])
  const lines: { type: string; content: string }[] = []
  const follower = spawnCli(home, ["updates", "api", "--follow", "--json"])
  try {
    let rest = ""
    follower.stdout.on("data", (chunk) => {
      const parts = (rest + chunk).split("\n")
      rest = parts.pop()!
      lines.push(...parts.map((line) => JSON.parse(line)))
    })
    const types = () => lines.map(({ type }) => type)
    await begins("A", agent.pid!, "startup")
    await expect.poll(types, SOON).toEqual(["session_started"])
    await home.kill()
    await home.run("start")
    await begins("B", agent.pid!, "clear")
    await expect.poll(types, SOON).toEqual(["session_started", "session_restart"])
    expect(lines[1]!.content).toContain("Session: A → B")
  } finally {
    follower.kill("SIGKILL")
    agent.kill("SIGKILL")
  }
})

test("after /clear the agent still gets its mail, although its server names the session before", async () => {
  const agent = spawn("sleep", ["120"])
  const server = await connect(home, { cwd, env: { CLAUDE_PROJECT_DIR: cwd, CLAUDE_CODE_SESSION_ID: "old" } })
  try {
    await begins("old", agent.pid!, "startup")
    await begins("cleared", agent.pid!, "clear")
    const sender = await connect(home, { cwd: home.env.HOME! })
    const { id } = await sender.call<{ id: string }>("send_message", { target: "api", message: "a letter for you" })
    await sender.close()
    const pulled = async () => {
      const page = await server.call<{ updates: { type: string; message_id: string }[] }>("pull_updates", {
        target: "api",
      })
      return page.updates.filter(({ type }) => type === "message").map(({ message_id }) => message_id)
    }
    await expect.poll(pulled, SOON).toEqual([id])
  } finally {
    await server.close()
    agent.kill("SIGKILL")
  }
})

test("a person reads them, and an error names the wrong value", async () => {
  const { stdout } = await home.run("updates", "api")
  expect(stdout).toMatch(/session_restart {2}⚠️ Agent session restarted \(clear\)/)
  expect(stdout).toMatch(/The restarted session was working on: unknown; no pending messages/)
  for (const [args, message] of [
    [["updates"], "missing team: throughline updates <team>"],
    [["updates", "nobody"], "unknown target: nobody"],
    [["updates", "api", "--since", "yesterday"], "--since: must be"],
  ] as const) {
    const { code, stderr } = await home.run(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
})
