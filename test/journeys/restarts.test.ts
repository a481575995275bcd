import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agents, claudeEnv } from "../fixtures/agents.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { type FakeAgents, makeFakeAgents } from "../fixtures/fake-agents.ts"
import { anthropicMessages, type ModelApi, startModelApi } from "../fixtures/model-api.ts"
import { type Living, makeRestartStage, type RestartStage, subagentScript } from "../fixtures/restart-stage.ts"

const AFTER_HOOK_MS = 5_000
const AFTER_DEATH_MS = 15_000
/** Longer than a successor is waited for. */
const QUIET_MS = 9_000

describe.each(["the fake agent", "the real Claude Code"])("%s", (who) => {
  let home: TestHome
  let fakes: FakeAgents | undefined
  let model: ModelApi
  let stage: RestartStage
  let living: Living
  const asking = subagentScript()

  beforeAll(async () => {
    home = makeHome()
    const cwd = join(home.env.HOME!, "api")
    mkdirSync(cwd, { recursive: true })
    model = await startModelApi(anthropicMessages)
    model.script(asking.script)
    if (who === "the fake agent") {
      fakes = makeFakeAgents(home)
      const env = { ...home.env, LANG: "C.UTF-8", TERM: "xterm-256color" }
      stage = await makeRestartStage(home, { argv: [fakes.program, "--permission-mode", "default"], env, cwd })
    } else {
      const argv = [agents.claude("claude-new"), "--permission-mode", "default"]
      stage = await makeRestartStage(home, { argv, env: claudeEnv(home, model.url, cwd), cwd })
    }
    living = await stage.start()
    // Something must have been said, or there is nothing to resume.
    await talk()
  }, 60_000)

  afterAll(async () => {
    await stage?.end()
    fakes?.end()
    await home.dispose()
    await model.close()
  })

  const talk = async (words = "Say that it is done.") => {
    const done = stage.next(({ event, session }) => event === "Stop" && session === living.sessionId)
    await stage.say(living, words)
    await done
    // The terminal is ready for the next line a moment later.
    await sleep(300)
  }

  test("a restart is told once and soon; compaction, sub-agents, resuming and a session beside it are none", async () => {
    const expected: unknown[] = []
    const switches = async (command: string, cause: string) => {
      const begun = stage.next(({ event, start }) => event === "SessionStart" && start !== "compact")
      await stage.say(living, command)
      const { session, atMs } = await begun
      const told = await stage.restarted()
      const ids = { old_session_id: living.sessionId, new_session_id: session! }
      expect(told, JSON.stringify(stage.hooks().slice(-12))).toMatchObject({ ...ids, cause })
      expect(told.visibleAtMs - atMs).toBeLessThan(AFTER_HOOK_MS)
      expected.push(ids)
      living = { ...living, sessionId: session! }
      await sleep(500)
    }
    const replaces = async (cause: string, ...args: string[]) => {
      const next = await stage.start(args)
      const told = await stage.restarted()
      const ids = { old_session_id: living.sessionId, new_session_id: next.sessionId }
      expect(told).toMatchObject({ ...ids, cause })
      expect(told.visibleAtMs - next.hookAtMs).toBeLessThan(AFTER_HOOK_MS)
      expected.push(ids)
      living = next
      await sleep(500)
    }

    const compacted = stage.next(({ event, start }) => event === "SessionStart" && start === "compact")
    await stage.say(living, "/compact")
    expect(await compacted).toMatchObject({ session: living.sessionId })
    await sleep(1_000)

    await talk("ASK-A-SUBAGENT\nTOOL 50")
    if (!fakes) expect(asking.count()).toBe(1)
    await stage.start([], "beside")
    stage.tmux("beside", "kill-server")
    await sleep(1_000)
    expect(stage.restarts()).toEqual([])
    await switches("/branch", "branch")
    await switches("/clear", "clear")
    await talk()

    await stage.kill(living)
    living = await stage.start(["--resume", living.sessionId])
    await talk()

    await stage.kill(living)
    await replaces("killed", "--resume", living.sessionId, "--fork-session")
    await talk()
    await stage.kill(living)
    await replaces("killed")

    expect(stage.restarts()).toMatchObject(expected)
    expect(stage.restarts()).toHaveLength(expected.length)
  }, 120_000)

  test("a death that nobody follows is told; what is started later, in a new tmux server, is no second restart", async () => {
    const before = stage.restarts().length
    const diedAtMs = await stage.kill(living)
    const told = await stage.restarted()
    expect(told).toMatchObject({ old_session_id: living.sessionId, new_session_id: null, cause: "killed" })
    expect(told.visibleAtMs - diedAtMs).toBeLessThan(AFTER_DEATH_MS)
    living = await stage.start([], "b")
    await sleep(QUIET_MS)
    expect(stage.restarts()).toHaveLength(before + 1)
  }, 60_000)

  test("a tmux server that ends, and a daemon that is killed meanwhile, are one restart", async () => {
    const before = stage.restarts().length
    const ended = stage.next(({ event, end }) => event === "SessionEnd" && end === "other")
    stage.tmux("b", "kill-server")
    await ended
    await home.kill()
    await home.run("start")
    const next = await stage.start([], "b")
    const told = await stage.restarted()
    expect(told).toMatchObject({ old_session_id: living.sessionId, new_session_id: next.sessionId, cause: "other" })
    living = next
    await home.kill()
    await home.run("start")
    await sleep(QUIET_MS)
    expect(stage.restarts()).toHaveLength(before + 1)
    expect(stage.polls()).toBeGreaterThan(100)
  }, 60_000)
})
