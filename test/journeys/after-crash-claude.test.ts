import { execFile } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect } from "../fixtures/mcp.ts"
import { anthropicMessages, type ModelApi, startModelApi, text, wordsOf } from "../fixtures/model-api.ts"

let home: TestHome
let model: ModelApi
let cwd: string
beforeAll(async () => {
  home = makeHome()
  model = await startModelApi(anthropicMessages)
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
  await agent.call("task_state", { operation: "save", current_task: "Knotting the rope" })
  await agent.close()
}, 240_000)
afterAll(async () => {
  await model.close()
  await home.dispose()
})

/** On a busy machine the daemon may come later than the only prompt of print mode is sent; then the next one is looked at. */
const RUNS = 4

test("the real Claude Code's first session after a kill gets the project's state in its model's input", async () => {
  model.script(() => [text("Hello.")])
  const isTold = () => model.requests.some(({ body }) => wordsOf(body).includes("blue rope"))
  for (let run = 0; run < RUNS && !isTold(); run++) {
    await home.kill()
    await promisify(execFile)(agents.claude(CLAUDES[0]!.name), ["-p", "Hi", "--output-format", "json"], {
      ...{ cwd, env: claudeEnv(home, model.url, cwd), timeout: 60_000, input: "" },
    } as object)
  }
  expect(isTold()).toBe(true)
  // In print mode there is nobody to ask.
  expect(wordsOf(model.requests.map(({ body }) => body))).not.toMatch(/Session restarted|Say this to the owner/)
}, 300_000)
