import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  type AgentAnswer,
  type AgentRun,
  pretendPluginPackage,
  runCodex,
  runGemini,
  runOpencode,
} from "../fixtures/agents.ts"
import { showSession } from "../fixtures/captured.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { receivedHooks, spooled } from "../fixtures/hooks.ts"
import { connect } from "../fixtures/mcp.ts"
import { type Block, type ModelApi, startModelApi, text, type Wire, wordsOf } from "../fixtures/model-api.ts"
import { openaiChat } from "../fixtures/model-api-chat.ts"
import { geminiContent } from "../fixtures/model-api-gemini.ts"
import { openaiResponses } from "../fixtures/model-api-responses.ts"

interface Agent {
  platform: string
  wire: Wire
  run(run: AgentRun): Promise<AgentAnswer>
  prepare?(home: TestHome): void
}

// Hooks that nobody has trusted do not run; where much else runs, the server may take longer than Codex gives it.
const TRUSTED = ["--dangerously-bypass-hook-trust", "-c", "mcp_servers.throughline.startup_timeout_sec=60"]

const AGENTS: Agent[] = [
  { platform: "codex", wire: openaiResponses, run: (run) => runCodex({ ...run, args: TRUSTED }) },
  { platform: "gemini-cli", wire: geminiContent, run: runGemini },
  { platform: "opencode", wire: openaiChat, run: runOpencode, prepare: pretendPluginPackage },
]

const SOON = { timeout: 150_000, interval: 100 }
const SLOW_MS = 600_000
const ASKED = "Measure the lake with the blue rope."

describe.each(AGENTS)("after a kill of everything, the real $platform", ({ platform, wire, run, prepare }) => {
  let home: TestHome
  let model: ModelApi
  let cwd: string
  const say = (prompt: string, kill?: AbortSignal) =>
    run({ home, modelUrl: model.url, cwd, prompt, ...(kill && { kill }) })
  const isTold = () => model.requests.slice(1).some(({ body }) => wordsOf(body).includes("blue rope"))
  beforeAll(async () => {
    home = makeHome()
    model = await startModelApi(wire)
    cwd = join(home.env.HOME!, "lake")
    mkdirSync(cwd)
    await home.json("setup", platform, "--yes")
    prepare?.(home)
    await home.run("start")
  }, SLOW_MS)
  afterAll(async () => {
    await model.close()
    await home.dispose()
  })

  test("gives its first session the killed one's state in the model's input, and stores only the person's words", {
    timeout: SLOW_MS,
  }, async () => {
    // It dies while its model thinks.
    model.script(() => new Promise<Block[]>(() => {}))
    const killed = new AbortController()
    const first = say(ASKED, killed.signal)
    await expect.poll(() => model.requests.length, SOON).toBe(1)
    await expect.poll(() => home.json<object>("search", "blue rope").then(JSON.stringify), SOON).toContain("rope.")
    const agent = await connect(home, { cwd })
    await agent.call("task_state", { operation: "save", current_task: "Knotting the rope" })
    await agent.close()
    killed.abort()
    await first

    model.script(() => [text("Hello.")])
    await home.kill()
    const { code, nativeSession, stderr } = await say("Which day is it?")
    expect(code, stderr).toBe(0)
    const asked = ["Which day is it?"]
    // On a busy machine the daemon comes later than the only prompt of such a run; then a later prompt of the session gets it.
    for (const more of ["And which week?", "And which month?", "And which year?"]) {
      if (isTold()) break
      await home.run("start")
      await expect.poll(() => spooled(home), SOON).toEqual([])
      await run({ home, modelUrl: model.url, cwd, prompt: more, resume: nativeSession })
      asked.push(more)
    }
    expect(isTold()).toBe(true)
    const prompts = async () =>
      (await showSession(home, platform, nativeSession))?.turns.flatMap((turn) =>
        turn.kind === "prompt" ? turn.text : [],
      )
    await expect.poll(prompts, SOON).toEqual(asked)
  })

  test("gives an unattended session nothing that is meant for the owner", () => {
    expect(wordsOf(model.requests.map(({ body }) => body))).not.toMatch(/Session restarted|Say this to the owner/)
    const hooks = receivedHooks(home).filter(({ session }) => session !== undefined)
    expect(hooks.filter(({ unattended }) => unattended !== "true")).toEqual([])
  })
})
