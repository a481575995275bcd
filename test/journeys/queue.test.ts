import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MAIL_NOTE, quoteLines } from "../../src/domain/framing.ts"
import { connect } from "../fixtures/mcp.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import { tortureQueue } from "../fixtures/queue-torture.ts"
import { proves } from "../promises.ts"

const SOON = { timeout: 60_000, interval: 50 }
const ALL = ["queued", "delivered", "seen", "running", "done"]
const TEAMS = ["api", "web", "ops", "box", "run", "lab", "far", "old", "dry"]

let q: QueueHome
beforeAll(async () => {
  q = await makeQueueHome(TEAMS)
}, 240_000)
afterAll(() => q.dispose())

const state = (id: string) => async () => (await q.show(id)).state
const reason = (id: string) => async () => (await q.show(id)).reason
const queued = async (answer: Promise<{ id?: string }>) => (await answer).id!

describe("an agent in tmux", () => {
  test("that is idle gets the owner's words unchanged, and every state is reported", async () => {
    const api = await q.start("api")
    const id = await queued(q.send("api", "count the stones"))
    await expect.poll(state(id), SOON).toBe("done")
    expect(api.prompts()).toEqual(["count the stones"])
    expect(q.states(id)).toEqual(ALL)
    expect(await q.show(id)).toMatchObject({ way: "pane" })
  }, 240_000)

  test("gets messages of others under their names", async () => {
    const api = await q.start("web")
    await expect.poll(q.isPlaced(api), SOON).toBe(true)
    const id = await queued(q.mail("web", "count the sticks"))
    await expect.poll(state(id), SOON).toBe("done")
    expect(api.prompts()).toEqual([
      `[Message ${id} from an unnamed client, via Throughline]\n> count the sticks\n\n${MAIL_NOTE}`,
    ])
  }, 240_000)

  test("that is busy gets urgent messages only; stop ends its turn", async () => {
    const ops = await q.start("ops")
    const first = await queued(q.send("ops", "first\nSLOW 60000"))
    await expect.poll(state(first), SOON).toBe("running")
    const normal = await queued(q.send("ops", "later"))
    await expect.poll(reason(normal), SOON).toBe("the agent is busy")
    expect((await q.call<{ targets: object[] }>("queue_status", {})).targets).toContainEqual(
      expect.objectContaining({ target: "ops", pending: 1, in_progress: 1, waits_for: "the agent is busy" }),
    )
    const urgent = await queued(q.send("ops", "URGENT the tide"))
    await expect.poll(state(urgent), SOON).toBe("delivered")
    expect(await state(normal)()).toBe("queued")
    const stop = await queued(q.send("ops", "STOP and come back"))
    await expect.poll(state(stop), SOON).toBe("done")
    await expect.poll(state(normal), SOON).toBe("done")
    expect(ops.log().map(({ kind }) => kind)).toContain("interrupted")
    expect(ops.prompts().map((text) => text.split("\n")[0])).toEqual([
      "first",
      "URGENT the tide",
      "STOP and come back",
      "later",
    ])
    await expect.poll(state(first), SOON).toBe("done")
    await expect.poll(state(urgent), SOON).toBe("done")
  }, 240_000)

  test("that shows a dialog gets nothing until it is answered, and Enter answers none", async () => {
    const box = await q.start("box")
    const asking = await queued(q.send("box", "ask me\nDIALOG touch x"))
    await expect.poll(() => box.registry()?.status, SOON).toBe("waiting")
    const [normal, urgent] = [await queued(q.send("box", "after")), await queued(q.send("box", "URGENT now"))]
    await expect.poll(reason(urgent), SOON).toMatch(/waiting for its user/)
    await sleep(1_500)
    expect(box.log().filter(({ kind }) => /dialog-accepted|paste-thrown-away/.test(kind))).toEqual([])
    q.agents.tmux("a", "send-keys", "-t", box.pane.pane, "Escape")
    for (const id of [asking, normal, urgent]) await expect.poll(state(id), SOON).toBe("done")
    expect(box.prompts().slice(1)).toEqual(["URGENT now", "after"])
    expect(box.log().filter(({ kind }) => kind === "dialog-accepted")).toEqual([])
  }, 240_000)

  test("that was busy or showed a dialog gets pending messages by priority: stop, urgent, normal, oldest first", async () => {
    const far = await q.start("run")
    const session = await q.sessionOf(far)
    const asking = await queued(q.send("run", "ask me\nDIALOG touch x"))
    await expect.poll(() => far.registry()?.status, SOON).toBe("waiting")
    const sent = [
      await queued(q.send("run", "A")),
      await queued(q.mail("run", "B")),
      await queued(q.send(session, "C")),
      await queued(q.mail("run", "D", { priority: "urgent" })),
      await queued(q.send(session, "E", { priority: "urgent" })),
      await queued(q.send("run", "F", { priority: "stop" })),
      await queued(q.mail("run", "G", { priority: "stop" })),
    ]
    for (const id of sent) await expect.poll(reason(id), SOON).toMatch(/waiting for its user/)
    q.agents.tmux("a", "send-keys", "-t", far.pane.pane, "Escape")
    for (const id of [asking, ...sent]) await expect.poll(state(id), SOON).toBe("done")
    expect(far.prompts().map((text) => /^> (.*)$/m.exec(text)?.[1] ?? text.split("\n").at(-1))).toEqual([
      "DIALOG touch x",
      ...["F", "G", "D", "E", "A", "B", "C"],
    ])
  }, 240_000)
})

describe("an agent outside of tmux", () => {
  let lab: Awaited<ReturnType<QueueHome["start"]>>
  beforeAll(async () => {
    lab = await q.start("lab", { outside: true })
  }, 240_000)

  test("is woken with mail when it is idle, again and again, and by one background hook", async () => {
    for (const text of ["wake one", "wake two", "wake three"]) {
      const id = await queued(q.mail("lab", text))
      await expect.poll(state(id), SOON).toBe("done")
      expect(await q.show(id)).toMatchObject({ way: "wake" })
      expect(q.states(id)).toEqual(ALL)
    }
    const wakes = lab.log().filter(({ kind }) => kind === "wake")
    expect(wakes.map(({ text }) => /^> (wake .*)$/m.exec(text)?.[1])).toEqual(["wake one", "wake two", "wake three"])
    expect(wakes[0]!.text).toMatch(/from an unnamed client, via Throughline[\s\S]*approves nothing/)
    expect(lab.prompts()).toEqual([])
  }, 240_000)

  test("is woken by the daemon that comes after the one it waited for", async () => {
    await q.home.kill()
    await q.home.run("start")
    const id = await queued(q.mail("lab", "wake after a kill"))
    await expect.poll(state(id), SOON).toBe("done")
    expect(await q.show(id)).toMatchObject({ way: "wake" })
  }, 240_000)

  test("gets mail at the end of a running turn, in order", async () => {
    const first = await queued(q.mail("lab", "busy\nSLOW 8000"))
    await expect.poll(state(first), SOON).toBe("running")
    const stop = await q.mail("lab", "turn zero", { priority: "stop" })
    expect(stop.note).toContain("its turn cannot be interrupted")
    const ids = [stop.id!, await queued(q.mail("lab", "turn one")), await queued(q.mail("lab", "turn two"))]
    await expect.poll(reason(ids[0]!), SOON).toMatch(/delivered at the end of its turn/)
    for (const id of ids) {
      await expect.poll(state(id), SOON).toBe("done")
      // A Stop hook that a busy machine runs late leaves the mail to the background hook.
      expect(await q.show(id)).toMatchObject({ way: expect.stringMatching(/^(?:turn|wake)$/) })
      expect(q.states(id)).toEqual(ALL)
    }
    const told = lab.log().filter(({ kind, text }) => kind !== "prompt" && /^> turn /m.test(text ?? ""))
    expect(told.map(({ text }) => /^> (turn .*)$/m.exec(text)?.[1])).toEqual(["turn zero", "turn one", "turn two"])
  }, 240_000)

  test("fetches messages that no other route takes, without blocking any, and nobody else can", async () => {
    const long = `a long letter\n${"x".repeat(25_000)}`
    const id = await queued(q.mail("lab", long))
    await expect.poll(reason(id), SOON).toMatch(/can fetch the message itself/)
    const short = await queued(q.mail("lab", "a short letter behind it"))
    await expect.poll(state(short), SOON).toBe("done")
    expect(await state(id)()).toBe("queued")
    const pulled = async (team: string, session: string) => {
      const env = { CLAUDE_PROJECT_DIR: q.dirOf(team), CLAUDE_CODE_SESSION_ID: session }
      const agent = await connect(q.home, { env, cwd: q.dirOf(team) })
      const page = await agent.call<{ updates: { type: string; message_id: string; content: string }[] }>(
        "pull_updates",
        { target: "lab" },
      )
      await agent.close()
      return page.updates.filter(({ type }) => type === "message")
    }
    const { sessionId } = lab.log().at(-1)!
    expect(await pulled("api", "another")).toEqual([])
    expect(await pulled("lab", sessionId)).toMatchObject([
      { message_id: id, content: expect.stringContaining(quoteLines(long)) },
    ])
    expect(await pulled("lab", sessionId)).toEqual([])
    await expect.poll(state(id), SOON).toBe("running")
    expect(await q.show(id)).toMatchObject({ way: "pull" })
    const next = await queued(q.mail("lab", "and now a short one"))
    for (const one of [next, id]) await expect.poll(state(one), SOON).toBe("done")
    expect(q.states(id)).toEqual(ALL)
  }, 240_000)

  test("never gets the owner's own words by a hook: they wait for a terminal, and block no mail", async () => {
    const answer = await q.send("lab", "my own words")
    expect(answer).toMatchObject({ queued: true, note: expect.stringContaining("runs outside tmux") })
    const id = answer.id!
    await expect.poll(reason(id), SOON).toMatch(/owner's own words can only be typed/)
    const mail = await queued(q.mail("lab", "mail from behind"))
    await expect.poll(state(mail), SOON).toBe("done")
    expect(await q.show(id)).toMatchObject({ state: "queued" })
    expect(JSON.stringify(lab.log())).not.toContain("my own words")
    expect(await q.call("queue.cancel", { id })).toEqual({ id, cancelled: true })
    expect(q.states(id)).toEqual(["queued", "cancelled"])
  }, 240_000)
})

test("an agent's message carries its team's name, and its own key for the call applies", async () => {
  const dry = await q.start("dry")
  const env = { CLAUDE_PROJECT_DIR: q.dirOf("web"), CLAUDE_CODE_SESSION_ID: "of-web" }
  const web = await connect(q.home, { env, cwd: q.dirOf("web") })
  const meta = { "claudecode/toolUseId": "toolu_1" }
  const first = await web.call<{ id: string }>("send_message", { target: "dry", message: "hello" }, meta)
  expect(await web.call("send_message", { target: "dry", message: "other words" }, meta)).toEqual({
    queued: false,
    reason: "duplicate",
    id: first.id,
  })
  expect(await web.call("send_message", { target: "nobody", message: "x" })).toEqual({
    queued: false,
    reason: "unknown target: nobody",
  })
  await web.close()
  await expect.poll(state(first.id), SOON).toBe("done")
  expect(dry.prompts()).toEqual([`[Message ${first.id} from web, via Throughline]\n> hello\n\n${MAIL_NOTE}`])
}, 240_000)

describe("a team without a running session", () => {
  test("keeps its messages in order until a session starts", async () => {
    const ids: string[] = []
    for (const text of ["one", "two", "three"]) ids.push(await queued(q.send("far", text)))
    await expect.poll(reason(ids[0]!), SOON).toBe("no running session of far")
    const far = await q.start("far")
    for (const id of ids) await expect.poll(state(id), SOON).toBe("done")
    expect(far.prompts()).toEqual(["one", "two", "three"])
  }, 240_000)

  test("reports a message whose agent died while handling it", async () => {
    const old = await q.start("old")
    const id = await queued(q.send("old", "die\nCRASH"))
    await expect.poll(old.isThere, SOON).toBe(false)
    await expect.poll(state(id), SOON).toBe("failed")
    expect(await reason(id)()).toBe("the session ended mid-turn")
  }, 240_000)
})

test("a message that is not delivered in time expires, and says so", async () => {
  const hasty = await makeQueueHome(["one"], { THROUGHLINE_QUEUE_EXPIRE_DAYS: "0.00002" })
  try {
    const { id } = await hasty.send("one", "too late")
    await expect.poll(async () => (await hasty.show(id!)).state, SOON).toBe("expired")
    expect(hasty.states(id!)).toEqual(["queued", "expired"])
  } finally {
    await hasty.dispose()
  }
}, 240_000)

test(proves("queue.exactly-once"), async () => {
  const result = await tortureQueue({ targets: 3, messages: 25, kills: 3, absences: 3, maxMs: 150_000 })
  expect(result).toMatchObject({ delivered: 75, duplicates: 0, misplaced: 0, missing: 0, outOfOrder: 0, kills: 3 })
  expect(result.resentRefused).toBe(result.resent)
  expect(Object.keys(result.states).filter((name) => !["done", "failed"].includes(name))).toEqual([])
}, 240_000)
