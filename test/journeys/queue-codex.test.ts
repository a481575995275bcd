import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type CodexTerminal, openCodex } from "../fixtures/codex-terminal.ts"
import { text } from "../fixtures/model-api.ts"

interface MessageFacts {
  state: string
  way?: string
  reason?: string
}

// Without hooks of Codex a turn's end is believed some twenty seconds after it.
const SOON = { timeout: 60_000, interval: 100 }
// The queue is another room's: without it there is nothing to send with.
const hasQueue = existsSync(new URL("../../src/reach/room.ts", import.meta.url))

describe.skipIf(!hasQueue)("messages for a team whose agent is Codex", () => {
  let at: CodexTerminal
  let nativeId: string
  let gate: Promise<void> = Promise.resolve()
  beforeAll(async () => {
    at = await openCodex()
    mkdirSync(at.home.dir, { recursive: true, mode: 0o700 })
    const config = { teams: { lake: { project: at.cwd, platform: "codex" } } }
    writeFileSync(join(at.home.dir, "config.json"), JSON.stringify(config))
    await at.home.run("start")
    at.model.script(async ({ turn }) => {
      await gate
      return [text(`Answer ${turn + 1}.`)]
    })
  }, 60_000)
  afterAll(() => at.dispose())

  const send = async (message: string, ...more: string[]) =>
    (await at.home.json<{ id: string }>("send", "lake", message, ...more)).id
  const show = (id: string) => at.home.json<MessageFacts>("queue", "show", id)
  const isDone = (id: string) => expect.poll(async () => (await show(id)).state, SOON).toBe("done")
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    gate = promise
    return resolve
  }

  test("wait while nobody is there, and come after the first prompt of the session that comes", async () => {
    const id = await send("before anybody came")
    expect((await show(id)).state).toBe("queued")
    nativeId = await at.start()
    // Codex writes a session down with its first prompt, and only then is it kept.
    at.terminal.type("Hello.")
    await at.terminal.shows("› Hello.")
    at.terminal.key("Enter")
    await isDone(id)
    expect(at.prompts(nativeId)).toEqual(["Hello.", "before anybody came"])
    expect(await show(id)).toMatchObject({ way: "line" })
  }, 180_000)

  test("arrive in the terminal as they were written, and the reply is told", async () => {
    const id = await send("!count the stones")
    await at.terminal.shows("!count the stones")
    await isDone(id)
    expect(at.prompts(nativeId).at(-1)).toBe("!count the stones")
    const { updates } = await at.home.json<{ updates: { type: string; content: string }[] }>("updates", "lake")
    expect(updates).toContainEqual(expect.objectContaining({ type: "reply", content: "Answer 3." }))
  }, 120_000)

  test("wait for the end of a turn; stop ends it and comes first", async () => {
    const letGo = hold()
    const first = await send("a long task")
    await expect.poll(() => at.prompts(nativeId).at(-1), SOON).toBe("a long task")
    const later = await send("later")
    await expect.poll(async () => (await show(later)).reason, SOON).toMatch(/busy/)
    const stop = await send("STOP and come back")
    await expect.poll(async () => (await show(stop)).state, SOON).not.toBe("queued")
    letGo()
    for (const id of [first, later, stop]) await isDone(id)
    expect(at.prompts(nativeId).slice(-3)).toEqual(["a long task", "STOP and come back", "later"])
  }, 180_000)

  test("are said once and in order, although our daemon and Codex's are killed on the way", async () => {
    const texts = Array.from({ length: 20 }, (_, number) => `stone ${number}`)
    const ids: string[] = []
    for (const [number, one] of texts.entries()) {
      ids.push(await send(one, "--idempotency_key", one))
      if (number % 6 === 3) await at.home.kill()
    }
    for (const id of ids) await isDone(id)
    expect(at.prompts(nativeId).filter((said) => said.startsWith("stone"))).toEqual(texts)

    await at.killDaemon()
    const kept = await send("after the fall")
    await at.start(nativeId)
    await isDone(kept)
    expect(at.prompts(nativeId).filter((said) => said === "after the fall")).toHaveLength(1)
  }, 240_000)
})
