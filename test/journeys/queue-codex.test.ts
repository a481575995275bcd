import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { agents } from "../fixtures/agents.ts"
import { type CodexTerminal, openCodex } from "../fixtures/codex-terminal.ts"
import { ask } from "../fixtures/daemon.ts"
import { type Script, text, toolUse } from "../fixtures/model-api.ts"

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

const SOON = { timeout: 60_000, interval: 100 }

describe("messages for a team whose agent is Codex, which has no hooks of ours", () => {
  let at: CodexTerminal
  let shore: string
  let nativeId: string
  let gate: Promise<void> = Promise.resolve()
  const answering: Script = async ({ turn }) => {
    await gate
    return [text(`Answer ${turn + 1}.`)]
  }
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
    at.model.script(answering)
  }, 240_000)
  afterAll(async () => {
    await at.home.run("down", "shore")
    await at.dispose()
  })

  const send = async (message: string, { team = "lake", key = message, priority = "normal" } = {}) =>
    (await at.home.json<{ id: string }>("send", team, message, "--idempotency_key", key, "--priority", priority)).id
  const show = async (id: string) =>
    (await ask(at.home, { path: "/api/queue.show", body: JSON.stringify({ id }), socket: true })).json<MessageFacts>()
  const isDone = (id: string) => expect.poll(async () => (await show(id)).state, SOON).toBe("done")
  const updates = async (team = "lake") => (await at.home.json<{ updates: Update[] }>("updates", team)).updates
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }

  test("wait without a running session, and are the next session's first prompts", async () => {
    const id = await send("before anybody came")
    expect((await show(id)).state).toBe("queued")
    nativeId = await at.start()
    await isDone(id)
    expect(at.prompts(nativeId)).toEqual(["before anybody came"])
    expect(await show(id)).toMatchObject({ way: "line" })
  }, 240_000)

  test("arrive unchanged in the terminal, through every state, and the reply is reported", async () => {
    const id = await send("!count the stones")
    await at.terminal.shows("!count the stones")
    await isDone(id)
    expect(at.prompts(nativeId).at(-1)).toBe("!count the stones")
    await expect
      .poll(() => updates(), SOON)
      .toContainEqual(expect.objectContaining({ type: "reply", content: "Answer 2." }))
    const states = (await updates()).filter(({ type, message_id }) => type === "message_state" && message_id === id)
    expect(states.map(({ state }) => state)).toEqual(["queued", "delivered", "seen", "running", "done"])
  }, 240_000)

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
  }, 240_000)

  test("wait behind its question to the user, and come by urgency when that is answered", async () => {
    const input = { cmd: "touch shell", sandbox_permissions: "require_escalated", justification: "May I?" }
    let isAsked = false
    at.model.script(({ turn }) => {
      const blocks = isAsked ? [text(`Answer ${turn + 1}.`)] : [toolUse("exec_command", input)]
      isAsked = true
      return blocks
    })
    const asking = await send("make a shell")
    await at.terminal.shows("Would you like to run")
    const sent = [
      await send("first pebble"),
      await send("second pebble", { priority: "urgent" }),
      await send("third pebble"),
      await send("fourth pebble", { priority: "stop" }),
      await send("fifth pebble", { priority: "urgent" }),
    ]
    for (const id of sent) await expect.poll(async () => (await show(id)).reason, SOON).toMatch(/waiting for its user/)
    at.terminal.key("Escape")
    for (const id of [asking, ...sent]) await isDone(id)
    const pebbles = at.prompts(nativeId).filter((said) => said.endsWith("pebble"))
    expect(pebbles.map((said) => said.split(" ")[0])).toEqual(["fourth", "second", "fifth", "first", "third"])
    at.model.script(answering)
  }, 240_000)

  test("are delivered once and in order, although our daemon and Codex's are killed on the way", async () => {
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
  }, 240_000)

  test("go to the session that replaces a killed one, after a report of its restart", async () => {
    await at.quit()
    await at.killDaemon()
    const id = await send("for whoever comes")
    const next = await at.start()
    await isDone(id)
    expect(at.prompts(next)).toEqual(["for whoever comes"])
    const told = async () =>
      (await updates()).flatMap(({ type, content, message_id, state }) => {
        if (type.startsWith("session_")) return content.includes(next) ? [type] : []
        return message_id === id && state === "delivered" ? [state] : []
      })
    // One that takes long to come has only started: that the first is gone was told before.
    await expect.poll(told, SOON).toEqual([expect.stringMatching(/^session_(?:restart|started)$/), "delivered"])
  }, 240_000)

  test("reach a session that was started by `up`, and the one that continues after `down`", async () => {
    const sessionOf = (said: string) =>
      at.model.requests.findLast(({ body }) => JSON.stringify(body.input).includes(said))!.body.prompt_cache_key
    expect((await at.home.run("up", "shore")).stdout).toContain("Started a new session of shore")
    await isDone(await send("first words", { team: "shore" }))
    const first = String(sessionOf("first words"))
    expect((await at.home.run("down", "shore")).stdout).toContain("Stopped shore's session")
    // Codex's shared daemon would have it open still, and run what is sent to it.
    const { sessions } = await at.home.json<{ sessions: { nativeId?: string }[] }>("sessions", "live")
    expect(JSON.stringify(sessions)).not.toContain(first)
    const asked = at.model.requests.length
    const second = await send("second words", { team: "shore" })
    await expect.poll(async () => (await show(second)).reason, SOON).toMatch(/no (?:running )?session|not|nobody/i)
    expect([(await show(second)).state, at.model.requests.length]).toEqual(["queued", asked])
    expect((await at.home.run("up", "shore")).stdout).toContain("Resumed shore's last session")
    await isDone(second)
    expect(at.prompts(String(sessionOf("second words")))).toEqual(["first words", "second words"])
    expect(sessionOf("second words")).toBe(sessionOf("first words"))
  }, 240_000)
})
