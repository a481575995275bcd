import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agents, CLAUDES, claudeEnv } from "../fixtures/agents.ts"
import { type AskAnswer, type AskingHome, asking } from "../fixtures/asking.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import { makeHome } from "../fixtures/daemon.ts"
import { deedFor } from "../fixtures/directives.ts"
import {
  anthropicMessages,
  type ModelApi,
  type ModelRequest,
  startModelApi,
  text,
  wordsOf,
} from "../fixtures/model-api.ts"

const SLOW_MS = 240_000
const WAIT = { timeout: 60_000 }
const TEAMS = ["killed", "paned", "woken"]

const saidTo = ({ body }: ModelRequest) =>
  wordsOf((body.messages as { role?: string }[]).filter(({ role }) => role === "user"))

describe.each(CLAUDES)("teams of the real Claude Code $version", ({ name }) => {
  let b: AskingHome
  let model: ModelApi
  const terminals: ClaudeTerminal[] = []
  const held = new AbortController()
  beforeAll(async () => {
    const home = makeHome()
    model = await startModelApi(anthropicMessages)
    model.script(async (request) => {
      const deed = deedFor(saidTo(request), undefined)
      if (deed.kind === "hold") await sleep(600_000, undefined, { signal: held.signal }).catch(() => {})
      return [text(deed.kind === "say" ? deed.text : "too late")]
    })
    const dirOf = (team: string) => join(home.env.HOME!, "projects", team)
    for (const team of TEAMS) {
      mkdirSync(dirOf(team), { recursive: true })
      Object.assign(home.env, claudeEnv(home, model.url, dirOf(team)))
    }
    const program = agents.claude(name)
    const teams = Object.fromEntries(TEAMS.map((team) => [team, { project: dirOf(team), program }]))
    mkdirSync(home.dir, { recursive: true, mode: 0o700 })
    writeFileSync(join(home.dir, "config.json"), JSON.stringify({ teams }))
    await home.json("setup", "claude-code", "--yes")
    await home.run("start")
    b = asking(home, dirOf)
  }, SLOW_MS)
  afterAll(async () => {
    held.abort()
    for (const terminal of terminals) await terminal.end()
    await b.dispose()
    await model.close()
  })

  test("killed mid-turn: failed within a second, resumed with the next question, and delivered once", {
    timeout: SLOW_MS,
  }, async () => {
    const { sessionId } = await b.ask("killed", "<<SAY plum>>", WAIT)
    const { messageId } = await b.ask("killed", "<<HOLD kiwi>>", { timeout: 0 })
    await expect
      .poll(() => model.requests.some((one) => saidTo(one).includes("<<HOLD kiwi>>")), { timeout: 60_000 })
      .toBe(true)
    // It writes a prompt down a moment after it has sent it; killed before that, it has never had it.
    await sleep(700)
    const killedMs = Date.now()
    process.kill(await b.pidOf("killed"), "SIGKILL")
    const failed = await b.until(messageId, ({ status }) => status === "failed")
    expect(Date.now() - killedMs).toBeLessThan(20_000)
    expect(failed).toMatchObject({ messageId, reason: expect.stringContaining("SIGKILL") })
    const next = await b.ask("killed", "<<RECALL on>>", WAIT)
    expect(next).toMatchObject({ status: "done", answer: "heard: plum kiwi on", sessionId })
    expect(next.contextIsNew).toBeUndefined()
    const times = (text: string) => text.split("<<HOLD kiwi>>").length - 1
    expect(times(saidTo(model.requests.at(-1)!)), "as the model reads it").toBe(1)
    expect(
      b.prompts().filter((text) => text.includes("<<HOLD kiwi>>")),
      "as it is kept",
    ).toHaveLength(1)
  })

  test.each([
    { team: "paned", outside: false, where: "in tmux" },
    { team: "woken", outside: true, where: "in a terminal that nobody can type in" },
  ])(
    "a question is delivered in a session that is open $where, and answered there",
    {
      timeout: SLOW_MS,
    },
    async ({ team, outside }) => {
      const caller = { surface: "mcp", key: "k", projectDir: b.dirOf("killed"), cwd: b.dirOf("killed") }
      const send = (message: string, more: object = {}) =>
        b.call<AskAnswer>("teams_send_message", { toTeam: team, message, ...WAIT, ...more }, caller)
      const { sessionId } = await send("<<SAY plum>>")
      await b.call("teams_control", { operation: "sleep", team, fromTeam: "killed" })
      const request = { which: name, team, modelUrl: model.url, outside, resume: sessionId! }
      const terminal = await startClaude(b, request)
      terminals.push(terminal)
      const before = model.requests.length
      const asked = await send("<<SAY a fig>>", { ifOpen: "deliver" })
      expect(asked, await terminal.screen()).toMatchObject({ status: "done", answer: "a fig", sessionId })
      expect(b.states(asked.messageId)).toEqual(["queued", "delivered", "running", "done"])
      expect(model.requests).toHaveLength(before + 1)
      expect((await b.status()).processes.filter(({ to }) => to === team)).toEqual([])
      expect(await send("<<RECALL leaf>>", { ifOpen: "deliver" })).toMatchObject({ answer: "heard: plum a fig leaf" })
    },
  )
})
