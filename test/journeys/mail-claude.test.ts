import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { processStart } from "../../src/daemon/process/process-identity.ts"
import { CLAUDES } from "../fixtures/agents.ts"
import { type ClaudeTerminal, startClaude } from "../fixtures/claude-terminal.ts"
import {
  anthropicMessages,
  type Block,
  type ModelApi,
  startModelApi,
  text,
  toolUse,
  wordsOf,
} from "../fixtures/model-api.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"

const SOON = { timeout: 60_000, interval: 50 }
const [{ name, version }] = CLAUDES.slice(0, 1) as [(typeof CLAUDES)[0]]
const pull = () => toolUse("mcp__throughline__pull_updates", { target: "web" })

interface Update {
  type: string
  content: string
  message_id: string | null
}

describe(`the mail of the real Claude Code ${version}`, () => {
  let q: QueueHome
  let model: ModelApi
  let claude: ClaudeTerminal
  let nativeId: string
  beforeAll(async () => {
    q = await makeQueueHome(["web"])
    await q.home.json("setup", "claude-code", "--yes", "--allow-tools")
    model = await startModelApi(anthropicMessages)
    claude = await startClaude(q, { which: name, team: "web", modelUrl: model.url })
    nativeId = (await claude.live())!.nativeId
  }, 240_000)
  afterAll(async () => {
    await claude?.end()
    await model?.close()
    await q?.dispose()
  })

  const state = (id: string) => async () => (await q.show(id)).state
  const reason = (id: string) => async () => (await q.show(id)).reason
  const isDone = async (...ids: string[]) => {
    for (const id of ids) await expect.poll(state(id), SOON).toBe("done")
  }
  const status = async () => (await claude.live())?.status
  const reached = async () => {
    const { sessions } = await q.call<{ sessions: { pid: number; pane?: string; wakes?: true }[] }>("sessions.live", {})
    return sessions.map(({ pid, pane, wakes }) => ({ pid, pane, wakes }))
  }
  const replies = async () => {
    const { updates } = await q.call<{ updates: Update[] }>("pull_updates", { target: "web" })
    return updates.filter(({ type }) => type === "reply")
  }
  /** What the model says next, one block after another; the last one again and again. */
  const plays = (...plan: (() => Block[] | Promise<Block[]>)[]) => {
    let at = 0
    model.script(() => plan[Math.min(at++, plan.length - 1)]!())
  }
  /** A turn that runs until it is let go. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    return { letGo: resolve, gate: promise }
  }

  test("that waits behind a permission dialog arrives by urgency, and in order within each", async () => {
    plays(
      () => [toolUse("Bash", { command: "touch shell", description: "Make a shell" })],
      () => [text("Read.")],
    )
    const asking = await q.send("web", "make a shell")
    await expect.poll(status, SOON).toBe("waiting")
    const sent = [
      await q.send("web", "first pebble"),
      await q.mail("web", "second pebble", { priority: "urgent" }),
      await q.mail("web", "third pebble"),
      await q.send("web", "fourth pebble", { priority: "stop" }),
      await q.send("web", "fifth pebble", { priority: "urgent" }),
    ].map(({ id }) => id!)
    for (const id of sent) await expect.poll(reason(id), SOON).toMatch(/waiting for its user/)
    claude.key("Escape")
    await isDone(asking.id!, ...sent)
    const order = wordsOf(model.requests.at(-1)!.body.messages).match(/\w+(?= pebble)/g)
    expect([...new Set(order)]).toEqual(["fourth", "second", "fifth", "first", "third"])
  }, 240_000)

  test("has no way through a pane that is gone, although another one has its number", async () => {
    expect(await reached()).toMatchObject([{ pid: claude.pid, pane: "%0" }])
    await claude.end()
    await expect.poll(() => processStart(claude.pid), SOON).toBeUndefined()
    // Its terminal is the first one of a new server, as that of the session before was.
    claude = await startClaude(q, { which: name, team: "web", modelUrl: model.url, outside: true, resume: nativeId })
    await expect.poll(reached, SOON).toEqual([{ pid: claude.pid, pane: undefined, wakes: true }])
    const { stdout } = await q.home.run("sessions", "live")
    expect(stdout).toContain("hook")
    expect(stdout).not.toContain("%0")
  }, 240_000)

  test("passes the owner's words outside tmux, and the owner is told that they are queued", async () => {
    plays(() => [text("Read.")])
    const own = await q.send("web", "my own words")
    expect(own.note).toMatch(/runs outside tmux.*Messages from others go past them/)
    const { id } = await q.mail("web", "mail from behind")
    await isDone(id!)
    expect(await q.show(own.id!)).toMatchObject({
      state: "queued",
      reason: expect.stringMatching(/can only be typed into a tmux pane/),
    })
    expect(JSON.stringify(model.requests)).not.toContain("my own words")
    await q.call("queue.cancel", { id: own.id! })
  }, 240_000)

  test("does not stop a turn outside tmux, and its sender learns that it is delivered when the turn ends", async () => {
    const { letGo, gate } = hold()
    plays(
      () => gate.then(() => [text("All stones are counted.")]),
      () => [text("Stopped.")],
    )
    const slow = await q.mail("web", "count the stones")
    await expect.poll(state(slow.id!), SOON).toBe("running")
    const stop = await q.mail("web", "leave the stones", { priority: "stop" })
    expect(stop.note).toMatch(/cannot be interrupted: it gets the message when the turn ends/)
    await expect.poll(reason(stop.id!), SOON).toMatch(/delivered at the end of its turn/)
    letGo()
    await isDone(slow.id!, stop.id!)
    expect(await q.show(stop.id!)).toMatchObject({ way: "turn" })
    expect(wordsOf(model.requests.at(-1)!.body.messages)).toContain("All stones are counted.")
    await expect.poll(async () => (await replies()).map(({ content }) => content), SOON).toContain("Stopped.")
  }, 240_000)

  test("is all answered by the reply of the turn in which it was fetched", async () => {
    const { letGo, gate } = hold()
    plays(
      () => gate.then(() => [pull()]),
      () => [text("Both letters are read.")],
    )
    const looking = await q.mail("web", "look for letters")
    await expect.poll(state(looking.id!), SOON).toBe("running")
    const ids = [await q.mail("web", "a letter of Ann"), await q.mail("web", "a letter of Bob")].map(({ id }) => id!)
    for (const id of ids) await expect.poll(state(id), SOON).toBe("queued")
    letGo()
    await isDone(looking.id!, ...ids)
    for (const id of ids) expect(await q.show(id)).toMatchObject({ way: "pull" })
    const answered = async () =>
      (await replies())
        .filter(({ content }) => content === "Both letters are read.")
        .map(({ message_id }) => message_id)
        .sort()
    await expect.poll(answered, SOON).toEqual(ids.toSorted())
  }, 240_000)

  test("that is too long for a hook waits to be fetched, and holds up nothing", async () => {
    plays(() => [text("Read.")])
    const long = await q.mail("web", `a parcel of Dan\n${"x".repeat(25_000)}`)
    await expect.poll(reason(long.id!), SOON).toMatch(/can fetch the message itself/)
    plays(
      () => [pull()],
      () => [text("The parcel is open.")],
    )
    const { id } = await q.mail("web", "look for parcels")
    await isDone(id!, long.id!)
    expect(await q.show(long.id!)).toMatchObject({ way: "pull" })
    expect(wordsOf(model.requests.at(-1)!.toolResults)).toContain("a parcel of Dan")
  }, 240_000)

  test("is fetched by the session that follows on /clear, whose server was started for the one before", async () => {
    await expect.poll(status, SOON).toBe("idle")
    await claude.type("/clear")
    await expect.poll(async () => (await claude.live())?.nativeId, SOON).not.toBe(nativeId)
    const { letGo, gate } = hold()
    plays(
      () => gate.then(() => [pull()]),
      () => [text("The approval is read.")],
    )
    const looking = await q.mail("web", "look for approvals")
    await expect.poll(state(looking.id!), SOON).toBe("running")
    const { id } = await q.mail("web", "an approval request of Cat")
    letGo()
    await isDone(looking.id!, id!)
    expect(await q.show(id!)).toMatchObject({ way: "pull" })
    expect(wordsOf(model.requests.at(-1)!.toolResults)).toContain("an approval request of Cat")
  }, 240_000)
})
