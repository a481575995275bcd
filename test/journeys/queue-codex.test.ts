import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agents } from "../fixtures/agents.ts"
import { type CodexTerminal, openCodex } from "../fixtures/codex-terminal.ts"
import { ask } from "../fixtures/daemon.ts"
import { text } from "../fixtures/model-api.ts"

interface MessageFacts {
  state: string
  way?: string
  reason?: string
}

interface Update {
  type: string
  content: string
  message_id?: string
  state?: string
}

const SOON = { timeout: 30_000, interval: 100 }

describe("messages for a team whose agent is Codex, which has no hooks of ours", () => {
  let at: CodexTerminal
  let shore: string
  let nativeId: string
  let gate: Promise<void> = Promise.resolve()
  beforeAll(async () => {
    at = await openCodex()
    shore = join(at.home.env.HOME!, "shore")
    mkdirSync(shore)
    appendFileSync(join(at.home.env.HOME!, ".codex", "config.toml"), `[projects."${shore}"]\ntrust_level = "trusted"\n`)
    mkdirSync(at.home.dir, { recursive: true, mode: 0o700 })
    const teams = {
      lake: { project: at.cwd, platform: "codex" },
      shore: { project: shore, platform: "codex", program: agents.codex() },
    }
    writeFileSync(join(at.home.dir, "config.json"), JSON.stringify({ teams }))
    await at.home.run("start")
    at.model.script(async ({ turn }) => {
      await gate
      return [text(`Answer ${turn + 1}.`)]
    })
  }, 60_000)
  afterAll(async () => {
    await at.home.run("down", "shore")
    await at.dispose()
  })

  const send = async (message: string, { team = "lake", key = message } = {}) =>
    (await at.home.json<{ id: string }>("send", team, message, "--idempotency_key", key)).id
  const show = async (id: string) =>
    (await ask(at.home, { path: "/api/queue.show", body: JSON.stringify({ id }), socket: true })).json<MessageFacts>()
  const isDone = (id: string) => expect.poll(async () => (await show(id)).state, SOON).toBe("done")
  const updates = async (team = "lake") => (await at.home.json<{ updates: Update[] }>("updates", team)).updates
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }

  test("wait while nobody is there, and are the first words of the session that comes", async () => {
    const id = await send("before anybody came")
    expect((await show(id)).state).toBe("queued")
    nativeId = await at.start()
    await isDone(id)
    expect(at.prompts(nativeId)).toEqual(["before anybody came"])
    expect(await show(id)).toMatchObject({ way: "line" })
  }, 60_000)

  test("arrive in the terminal as they were written, through every state, and the reply is told", async () => {
    const id = await send("!count the stones")
    await at.terminal.shows("!count the stones")
    await isDone(id)
    expect(at.prompts(nativeId).at(-1)).toBe("!count the stones")
    await expect
      .poll(() => updates(), SOON)
      .toContainEqual(expect.objectContaining({ type: "reply", content: "Answer 2." }))
    const states = (await updates()).filter(({ type, message_id }) => type === "message_state" && message_id === id)
    expect(states.map(({ state }) => state)).toEqual(["queued", "delivered", "seen", "running", "done"])
  }, 60_000)

  test("wait for the end of a turn; stop ends it and comes first", async () => {
    const letGo = hold()
    const first = await send("a long task")
    await expect.poll(async () => (await show(first)).state, SOON).toBe("running")
    const later = await send("later")
    await expect.poll(async () => (await show(later)).reason, SOON).toMatch(/busy/)
    const stop = await send("STOP and come back")
    await expect.poll(async () => (await show(stop)).state, SOON).not.toBe("queued")
    expect(await show(first)).toMatchObject({ state: "done", reason: "its turn was interrupted" })
    letGo()
    for (const id of [later, stop]) await isDone(id)
    expect(at.prompts(nativeId).slice(-3)).toEqual(["a long task", "STOP and come back", "later"])
  }, 60_000)

  test("are said once and in order, although our daemon and Codex's are killed on the way", async () => {
    const texts = Array.from({ length: 20 }, (_, number) => `stone ${number}`)
    const ids: string[] = []
    for (const [number, one] of texts.entries()) {
      ids.push(await send(one))
      if (number % 6 === 3) await at.home.kill()
    }
    for (const id of ids) await isDone(id)
    const stones = () => at.prompts(nativeId).filter((said) => said.startsWith("stone"))
    expect(stones()).toEqual(texts)
    // All of this was one session.
    expect((await updates()).map(({ type }) => type)).not.toContain("session_restart")

    const letGo = hold()
    const cut = await send("running at the fall")
    await expect.poll(async () => (await show(cut)).state, SOON).toBe("running")
    await at.killDaemon()
    const kept = await send("after the fall")
    letGo()
    await expect.poll(async () => (await show(cut)).state, SOON).toBe("failed")
    expect((await show(kept)).state).toBe("queued")
    await at.start(nativeId)
    await isDone(kept)
    expect(stones()).toEqual(texts)
    for (const once of ["running at the fall", "after the fall"])
      expect(at.prompts(nativeId).filter((said) => said === once)).toEqual([once])
  }, 120_000)

  test("reach a session that was started by `up`, and the one that goes on after `down`", async () => {
    const sessionOf = (said: string) =>
      at.model.requests.findLast(({ body }) => JSON.stringify(body.input).includes(said))!.body.prompt_cache_key
    expect((await at.home.run("up", "shore")).stdout).toContain("shore has a new session")
    await isDone(await send("first words", { team: "shore" }))
    await at.home.json("down", "shore")
    expect((await at.home.run("up", "shore")).stdout).toContain("shore")
    await isDone(await send("second words", { team: "shore" }))
    expect(at.prompts(String(sessionOf("second words")))).toEqual(["first words", "second words"])
    expect(sessionOf("second words")).toBe(sessionOf("first words"))
  }, 60_000)
})
