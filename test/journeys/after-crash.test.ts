import { existsSync, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ask, makeHome, type TestHome } from "../fixtures/daemon.ts"
import { runHook, spooled } from "../fixtures/hooks.ts"
import { connect } from "../fixtures/mcp.ts"

const SOON = { timeout: 60_000, interval: 100 }

let home: TestHome
let cwd: string
beforeAll(async () => {
  home = makeHome()
  cwd = join(home.env.HOME!, "lake")
  mkdirSync(cwd)
  mkdirSync(join(home.env.HOME!, ".claude"))
  await home.json("setup", "claude-code", "--yes")
  await home.run("start")
  const agent = await connect(home, { cwd })
  await agent.call("log_conversation_exchange", {
    user_message: "Measure the lake with the blue rope.",
    ai_response: "Half of it is measured.",
    session_id: "before",
  })
  await agent.close()
})
afterAll(() => home.dispose())

const isUp = async () => {
  try {
    return (await ask(home, { path: "/health", socket: true })).status === 200
  } catch {
    return false
  }
}

describe.each([
  ["claude-code", "UserPromptSubmit"],
  ["codex", "UserPromptSubmit"],
  ["gemini-cli", "BeforeAgent"],
])("after the daemon was killed, the first session of %s", (platform, prompting) => {
  const session = { session_id: `after-${platform}`, transcript_path: "" }
  const said = (event: string, more: object = {}) =>
    runHook(home, { hook_event_name: event, ...session, cwd, ...more }, { platform })

  test("restarts the daemon without waiting for it, and gets the project's state once, at its first prompt", async () => {
    await home.kill()
    const start = await said("SessionStart", { source: "startup" })
    expect(start).toMatchObject({ code: 0, output: "" })
    await expect.poll(isUp, SOON).toBe(true)
    await expect.poll(() => spooled(home), SOON).toEqual([])
    const { code, output } = await said(prompting, { prompt: "Hello" })
    expect(code).toBe(0)
    const answer = JSON.parse(output) as { hookSpecificOutput: { hookEventName: string; additionalContext: string } }
    expect(answer.hookSpecificOutput.hookEventName).toBe(prompting)
    expect(answer.hookSpecificOutput.additionalContext).toContain("Measure the lake with the blue rope.")
    expect((await said(prompting, { prompt: "Again" })).output).toBe("")
  })

  test("gets it at its start if the daemon is up, and not again", async () => {
    const later = { session_id: `later-${platform}` }
    expect((await said("SessionStart", { source: "startup", ...later })).output).toContain("blue rope")
    expect((await said(prompting, { prompt: "Hello", ...later })).output).toBe("")
  })
})

test("after a restart the daemon gives the next prompt's hook more time", async () => {
  await home.kill()
  const mark = join(home.dir, "spool", ".missed-start")
  await runHook(home, { hook_event_name: "SessionStart", session_id: "late", cwd, source: "startup" })
  // As if a prompt had taken it and the daemon had not been up in time.
  rmSync(mark)
  await expect.poll(() => existsSync(mark), SOON).toBe(true)
  expect(spooled(home)).toEqual([])
})

test("a daemon that was stopped on purpose is not brought back by a hook", async () => {
  await home.run("stop")
  const { output } = await runHook(home, { hook_event_name: "SessionStart", session_id: "off", cwd, source: "startup" })
  expect(output).toBe("")
  expect(await isUp()).toBe(false)
  expect(spooled(home)).toHaveLength(1)
})
