import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { runGemini } from "../fixtures/agents.ts"
import { makeHome } from "../fixtures/daemon.ts"
import { connect } from "../fixtures/mcp.ts"
import { startModelApi, steps, text, toolUse, wordsOf } from "../fixtures/model-api.ts"
import { geminiContent } from "../fixtures/model-api-gemini.ts"

/** It names no project in the environment of its MCP servers: the folder in which it runs them has to do. */
test("a team whose agent is Gemini CLI fetches its mail", { timeout: 240_000 }, async () => {
  const home = makeHome()
  const model = await startModelApi(geminiContent)
  onTestFinished(async () => {
    await model.close()
    await home.dispose()
  })
  const [cwd, elsewhere] = ["lake", "shore"].map((name) => join(home.env.HOME!, name)) as [string, string]
  for (const dir of [cwd, elsewhere, home.dir]) mkdirSync(dir, { recursive: true, mode: 0o700 })
  writeFileSync(
    join(home.dir, "config.json"),
    JSON.stringify({ teams: { gm: { project: cwd, platform: "gemini-cli" } } }),
  )
  await home.json("setup", "gemini-cli", "--yes")
  // The owner's own words are typed; what an agent sends can be fetched.
  const sender = await connect(home, { cwd: elsewhere })
  onTestFinished(() => sender.close())
  const { id } = await sender.call<{ id: string }>("send_message", {
    target: "gm",
    message: "Paint the boat.",
    idempotency_key: "k1",
  })

  const pulled = async (dir: string) => {
    model.script(steps([toolUse("mcp_throughline_pull_updates", { target: "gm" })], [text("Done.")]))
    const { code, stderr } = await runGemini({
      home,
      modelUrl: model.url,
      cwd: dir,
      prompt: "Any mail?",
      args: ["--approval-mode", "yolo"],
    })
    expect(code, stderr).toBe(0)
    return wordsOf(model.requests.at(-1)!.toolResults)
  }
  expect(await pulled(elsewhere), "in another folder it is nobody's agent").not.toContain("Paint the boat.")
  expect(await pulled(cwd)).toContain("Paint the boat.")
  expect(await home.json("queue", "show", id)).not.toMatchObject({ state: "queued" })
})
