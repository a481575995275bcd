import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { tortureOwnership } from "../fixtures/ownership-torture.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"

const SOON = { timeout: 60_000, interval: 50 }
const ALL = ["queued", "delivered", "seen", "running", "done"]
const ENDED = "the session has ended"

let q: QueueHome
beforeAll(async () => {
  q = await makeQueueHome(["api", "web"])
}, 240_000)
afterAll(() => q.dispose())

const state = (id: string) => async () => (await q.show(id)).state
const reason = (id: string) => async () => (await q.show(id)).reason
const queued = async (answer: Promise<{ id?: string }>) => (await answer).id!
const keys = (agent: FakeAgent, ...pressed: string[]) =>
  q.agents.tmux("a", "send-keys", "-t", agent.pane.pane, ...pressed)

/** Typed by the person who sits there; answers when the pane has another session. */
async function type(agent: FakeAgent, command: string): Promise<void> {
  const before = agent.registry()?.sessionId
  keys(agent, "-l", command)
  keys(agent, "Enter")
  await expect.poll(() => agent.registry()?.sessionId, SOON).not.toBe(before)
}

describe("sessions of no team", () => {
  test("of one folder are distinguished: each gets its own messages, in order", async () => {
    const agents = [await q.start("free", { name: "one" }), await q.start("free", { name: "two" })]
    const sessions = await Promise.all(agents.map(q.sessionOf))
    const ids: string[] = []
    for (let n = 0; n < 5; n++)
      for (const [at, session] of sessions.entries())
        ids.push(await queued(q.send(at === 0 ? session : `session:${session.slice(0, 13)}`, `words ${at} ${n}`)))
    for (const id of ids) await expect.poll(state(id), SOON).toBe("done")
    for (const [at, agent] of agents.entries())
      expect(agent.prompts()).toEqual([0, 1, 2, 3, 4].map((n) => `words ${at} ${n}`))
    expect(q.states(ids[0]!)).toEqual(ALL)
    expect(await q.show(ids[1]!)).toMatchObject({ target: `session:${sessions[1]}`, way: "pane" })
  }, 240_000)

  test("outside of tmux are woken with mail, and get mail at the end of a turn", async () => {
    const out = await q.start("outside", { outside: true })
    const session = await q.sessionOf(out)
    const first = await queued(q.mail(session, "wake\nSLOW 4000"))
    await expect.poll(state(first), SOON).toBe("running")
    const second = await queued(q.mail(session, "go on"))
    for (const [id, way] of [
      [first, /^wake$/],
      // A Stop hook that a busy machine runs late leaves the mail to the background hook.
      [second, /^(?:turn|wake)$/],
    ] as const) {
      await expect.poll(state(id), SOON).toBe("done")
      expect(await q.show(id)).toMatchObject({ way: expect.stringMatching(way) })
    }
    const own = await queued(q.send(session, "my own words"))
    await expect.poll(reason(own), SOON).toMatch(/only be typed into a tmux pane/)
    expect(out.prompts()).toEqual([])
  }, 240_000)
})

describe("beside a team", () => {
  test("another session of the team is reached by its own name", async () => {
    const [current, other] = [await q.start("api"), await q.start("api", { name: "other" })]
    await queued(q.send(await q.sessionOf(other), "for the other"))
    await other.until((log) => log.some(({ kind }) => kind === "prompt"))
    const id = await queued(q.send("api", "for the team"))
    await expect.poll(state(id), SOON).toBe("done")
    expect([current.prompts(), other.prompts()]).toEqual([["for the team"], ["for the other"]])
    process.kill(other.pid, "SIGTERM")
    await expect.poll(other.isThere, SOON).toBe(false)
  }, 240_000)

  test("messages for the team and for its session wait for each other's turn", async () => {
    const web = await q.start("web")
    const session = await q.sessionOf(web)
    const texts = Array.from({ length: 6 }, (_, n) => `both ${n}\nSLOW 150`)
    const ids = await Promise.all(texts.map((text, n) => queued(q.send(n % 2 === 0 ? session : "web", text))))
    for (const id of ids) await expect.poll(state(id), SOON).toBe("done")
    expect(web.prompts().toSorted()).toEqual(texts)
    // What is submitted while a turn runs has that turn's id.
    const turns = web.log().flatMap(({ kind, promptId }) => (kind === "prompt" ? [promptId] : []))
    expect(new Set(turns).size).toBe(texts.length)
  }, 240_000)
})

describe("a session that a pane has no more", () => {
  test.each([
    ["/clear", "cleared"],
    ["/branch", "branched"],
  ])(
    "by %s keeps its messages until it is resumed, and its replacement gets none",
    async (command, name) => {
      const agent = await q.start("free", { name })
      const session = await q.sessionOf(agent)
      const native = agent.registry()!.sessionId as string
      await type(agent, command)
      const ids = [await queued(q.send(session, "for the old one")), await queued(q.send(session, "URGENT, too"))]
      for (const id of ids) await expect.poll(reason(id), SOON).toBe(ENDED)
      const next = await queued(q.send(await q.sessionOf(agent), "for the new one"))
      await expect.poll(state(next), SOON).toBe("done")
      await sleep(1_500)
      expect(agent.prompts()).toEqual(["for the new one"])
      expect((await q.call<{ targets: object[] }>("queue_status", {})).targets).toContainEqual(
        expect.objectContaining({ target: `session:${session}`, pending: 2, session_id: native, waits_for: ENDED }),
      )
      const again = await q.start("free", { name: `${name}-again`, args: ["--resume", native] })
      for (const id of ids) await expect.poll(state(id), SOON).toBe("done")
      expect(again.prompts().toSorted()).toEqual(["URGENT, too", "for the old one"])
      expect(agent.prompts()).toEqual(["for the new one"])
    },
    90_000,
  )

  test("because the turn before cleared it leaves its pending messages behind", async () => {
    const agent = await q.start("free", { name: "clears" })
    const session = await q.sessionOf(agent)
    const first = await queued(q.send(session, "work\nSLOW 1200\nCLEAR"))
    await expect.poll(state(first), SOON).toBe("running")
    const second = await queued(q.send(session, "and then"))
    await expect.poll(reason(second), SOON).toBe(ENDED)
    await sleep(1_500)
    expect(agent.prompts()).toEqual(["work\nSLOW 1200\nCLEAR"])
    expect(await q.call("queue.cancel", { id: second })).toEqual({ id: second, cancelled: true })
  }, 240_000)

  test("because it is resumed elsewhere is followed there", async () => {
    const agent = await q.start("free", { name: "moves" })
    const session = await q.sessionOf(agent)
    const native = agent.registry()!.sessionId as string
    process.kill(agent.pid, "SIGKILL")
    await expect.poll(agent.isThere, SOON).toBe(false)
    const id = await queued(q.send(session, "are you there"))
    await expect.poll(reason(id), SOON).toBe(ENDED)
    const again = await q.start("free", { name: "moved", server: "b", args: ["--resume", native] })
    await expect.poll(state(id), SOON).toBe("done")
    expect(again.prompts()).toEqual(["are you there"])
  }, 240_000)
})

test("an unknown or ambiguous target is refused", async () => {
  const agent = await q.start("free", { name: "alone" })
  const session = await q.sessionOf(agent)
  for (const target of ["nobody", "session:nobody", session.slice(0, 3)])
    expect(await q.send(target, "x")).toEqual({ queued: false, reason: `unknown target: ${target}` })
  const { id } = await q.send(`session:${session}`, "x", { idempotency_key: "k" })
  expect(await q.send(session, "other words", { idempotency_key: "k" })).toEqual({
    queued: false,
    reason: "duplicate",
    id,
  })
})

test("messages for one of eight panes' sessions reach no other, whatever ends and starts meanwhile", async () => {
  const result = await tortureOwnership({ messages: 80, maxMs: 120_000 })
  expect(result).toMatchObject({ misdelivered: 0, duplicates: 0, missing: 0, outOfOrder: 0 })
  expect(result.uncertain, JSON.stringify(result)).toBeLessThanOrEqual(2)
  expect(result.sent).toBeGreaterThanOrEqual(80)
  expect(result.forEnded).toBeGreaterThan(0)
  expect(result.endedSaid).toBe(result.forEnded)
  expect(result.slowestNoticeMs).toBeLessThan(30_000)
}, 240_000)
