import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLAUDES } from "../fixtures/agents.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import { anthropicMessages, type ModelApi, startModelApi, text, wordsOf } from "../fixtures/model-api.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"

const SOON = { timeout: 60_000, interval: 50 }
const ALL = ["queued", "delivered", "seen", "running", "done"]

describe.each(CLAUDES)("the real Claude Code $version", ({ name }) => {
  let q: QueueHome
  let model: ModelApi
  const terminals: ClaudeTerminal[] = []
  const start = async (team: string, outside: boolean) => {
    const terminal = await startClaude(q, { which: name, team, modelUrl: model.url, outside })
    terminals.push(terminal)
    return terminal
  }
  beforeAll(async () => {
    q = await makeQueueHome(["web", "lab"])
    model = await startModelApi(anthropicMessages)
  }, 240_000)
  afterAll(async () => {
    for (const terminal of terminals) await terminal.end()
    await model.close()
    await q.dispose()
  })
  const state = (id: string) => async () => (await q.show(id)).state
  const read = () => model.requests.map(({ body }) => wordsOf(body.messages))

  test("idle in tmux takes a message, reports every state, and its reply is an update", async () => {
    model.script(({ body }) => [
      text(
        `It is ${wordsOf(body.messages)
          .match(/(?<=stone )\d+/g)
          ?.at(-1)}.`,
      ),
    ])
    await start("web", false)
    for (const n of [1, 2, 3]) {
      const { id } = await q.send("web", `count stone ${n}`)
      await expect.poll(state(id!), SOON).toBe("done")
      expect(q.states(id!)).toEqual(ALL)
      expect(await q.show(id!)).toMatchObject({ way: "pane" })
      const replies = async () => {
        const { updates } = await q.call<{ updates: { type: string; message_id?: string; content: string }[] }>(
          "pull_updates",
          { target: "web" },
        )
        return updates.filter(({ type, message_id }) => type === "reply" && message_id === id).map((one) => one.content)
      }
      await expect.poll(replies, SOON).toEqual([`It is ${n}.`])
    }
  }, 240_000)

  test("of no team is reached by its session's id, and after /clear the new session gets nothing of the old one's", async () => {
    model.script(() => [text("Read.")])
    const free = await start("free", false)
    const nativeId = async () => (await free.live())?.nativeId
    const known = async () => {
      const sessionId = await nativeId()
      return q.sessionOf({ name: "free", registry: () => ({ sessionId }) })
    }
    const old = { native: await nativeId(), id: await known() }
    const { id: first } = await q.send(old.id, "count the shells")
    await expect.poll(state(first!), SOON).toBe("done")
    expect(q.states(first!)).toEqual(ALL)

    await free.type("/clear")
    await expect.poll(nativeId, SOON).not.toBe(old.native)
    const { id: late } = await q.send(old.id, "for the one before")
    await expect.poll(async () => (await q.show(late!)).reason, SOON).toBe("the session has ended")
    const { id: next } = await q.send(await known(), "count the crabs")
    await expect.poll(state(next!), SOON).toBe("done")
    await sleep(1_500)
    expect(read().join("\n")).toContain("count the crabs")
    expect(read().join("\n")).not.toContain("for the one before")
    expect(await free.screen()).not.toContain("for the one before")
    expect(await q.show(late!)).toMatchObject({ state: "queued" })
  }, 240_000)

  test("outside of tmux is woken with mail by one background hook, again and again, and gets mail at the end of a turn", async () => {
    const lab = await start("lab", true)
    await expect.poll(() => lab.backgroundHooks().length, SOON).toBe(1)
    model.script(() => [text("Read.")])
    for (const words of ["wake one", "wake two", "wake three"]) {
      const { id } = await q.mail("lab", words)
      await expect.poll(state(id!), SOON).toBe("done")
      expect(await q.show(id!)).toMatchObject({ way: "wake" })
      expect(q.states(id!)).toEqual(ALL)
      expect(read().some((request) => request.includes(words))).toBe(true)
      await expect.poll(() => lab.backgroundHooks().length, SOON).toBe(1)
    }

    let isSlow = true
    model.script(async () => {
      if (isSlow) await sleep(3_000)
      isSlow = false
      return [text("Read.")]
    })
    const { id: slow } = await q.mail("lab", "take your time")
    await expect.poll(state(slow!), SOON).toBe("running")
    const { id } = await q.mail("lab", "and then this")
    await expect.poll(async () => (await q.show(id!)).reason, SOON).toMatch(/delivered at the end of its turn/)
    await expect.poll(state(id!), SOON).toBe("done")
    expect(await q.show(id!)).toMatchObject({ way: "turn" })
    expect(q.states(id!)).toEqual(ALL)
    expect(read().at(-1)).toContain("and then this")
    await expect.poll(state(slow!), SOON).toBe("done")
    await expect.poll(() => lab.backgroundHooks().length, SOON).toBe(1)
  }, 240_000)
})
