import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { ask, makeHome, type TestHome } from "../fixtures/daemon.ts"
import { anthropicMessages, type ModelApi, startModelApi, text } from "../fixtures/model-api.ts"

interface Facts {
  state: string
  way?: string
}

const SOON = { timeout: 60_000, interval: 200 }

let home: TestHome
let model: ModelApi
beforeAll(async () => {
  home = makeHome()
  model = await startModelApi(anthropicMessages)
  const cwd = join(home.env.HOME!, "harbour")
  mkdirSync(cwd)
  Object.assign(home.env, claudeEnv(home, model.url, cwd))
  await home.run("start")
  await home.json("teams", "add", "harbour", "--project", cwd, "--program", agents.claude(CLAUDES[0]!.name))
  model.script(() => [text("Aye.")])
})
afterAll(async () => {
  await home.run("down", "harbour")
  await model.close()
  await home.dispose()
})

test("a Claude Code without our hooks, started by `up`, gets a message once", async () => {
  const saids = () => model.requests.filter(({ body }) => JSON.stringify(body.messages).includes("mend the sails"))
  await home.run("up", "harbour")
  const { id } = await home.json<{ id: string }>("send", "harbour", "mend the sails")
  const show = async () =>
    (await ask(home, { path: "/api/queue.show", body: JSON.stringify({ id }), socket: true })).json<Facts>()
  // Without hooks it is known from the agent's own transcript.
  await expect.poll(async () => (await show()).state, SOON).toMatch(/^(?:delivered|seen|running|done)$/)
  expect(await show()).toMatchObject({ way: "pane" })
  expect(JSON.stringify(saids().at(-1)!.body.messages).match(/mend the sails/g)).toHaveLength(1)
}, 240_000)
