import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { agents } from "../fixtures/agents.ts"
import { type CodexTerminal, openCodex } from "../fixtures/codex-terminal.ts"
import { trustCodexHooks } from "../fixtures/codex-trust.ts"
import { ask } from "../fixtures/daemon.ts"
import { receivedHooks } from "../fixtures/hooks.ts"
import { text } from "../fixtures/model-api.ts"

const SOON = { timeout: 60_000, interval: 100 }
const SLOW_MS = 240_000
const TEAM = "lake"

let codex: CodexTerminal
beforeAll(async () => {
  codex = await openCodex()
  const { home, cwd } = codex
  mkdirSync(home.dir, { recursive: true, mode: 0o700 })
  const team = { project: cwd, platform: "codex", program: agents.codex(), skipPermissions: true }
  writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams: { [TEAM]: team } }))
  await home.json("setup", "codex", "--yes")
  expect(await trustCodexHooks(home, cwd)).toBeGreaterThan(0)
  await home.run("start")
}, SLOW_MS)
afterAll(() => codex.dispose(), SLOW_MS)

const call = async <T>(name: string, input: object) => {
  const headers = { "throughline-caller": encodeURIComponent(JSON.stringify({ surface: "cli", cwd: "/" })) }
  return (await ask(codex.home, { path: `/api/${name}`, body: JSON.stringify(input), socket: true, headers })).json<T>()
}
const restarts = async () => (await call<{ restarts: { team: string }[] }>("teams.restarts", {})).restarts
/** The session that gets the team's mail is the team's. */
const getsMail = async (nativeId: string, words: string) => {
  await call("send_message", { target: TEAM, message: words })
  await expect.poll(() => codex.prompts(nativeId).join("\n"), SOON).toContain(words)
}
const say = async (words: string) => {
  const before = codex.model.requests.length
  codex.terminal.type(words)
  await codex.terminal.shows(words)
  codex.terminal.key("Enter")
  await expect.poll(() => codex.model.requests.length, SOON).toBeGreaterThan(before)
}

const state = async () => (await call<{ teams: { state: string }[] }>("teams.list", {})).teams[0]!.state
const question = async () => {
  const asked = await call<{ status: string; answer: string; sessionId: string }>("teams_ask", {
    team: TEAM,
    question: "Which fruit?",
    timeout: 60_000,
  })
  expect(asked).toMatchObject({ status: "done", answer: "plum" })
  // Its hooks have told of it, and what they told was looked at.
  const ended = () => receivedHooks(codex.home).filter(({ session }) => session === asked.sessionId)
  await expect.poll(() => ended().map(({ event }) => event), SOON).toContain("Stop")
  return asked.sessionId
}

test(
  "a question to the real Codex's team is answered in a session of its own, and is not reported as a restart",
  async () => {
    codex.model.script(() => [text("plum")])
    const before = await state()
    const pair = await question()
    expect(await state()).toBe(before)
    const own = await codex.start()
    expect(own).not.toBe(pair)
    await say("Hello there")
    await getsMail(own, "count the shells")
    expect(await question()).toBe(pair)
    await getsMail(own, "count the crabs")
    expect(await restarts()).toEqual([])

    await codex.quit()
    const next = await codex.start()
    await say("Hello again")
    await expect.poll(async () => (await restarts()).map(({ team }) => team), SOON).toEqual([TEAM])
    await getsMail(next, "count the gulls")
  },
  SLOW_MS,
)
