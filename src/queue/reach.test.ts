import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type FakeAgent, type FakeAgents, makeFakeAgents } from "../../test/fixtures/fake-agents.ts"
import { claudeCode } from "../agents/claude-code/console.ts"
import { parentOf, processStart } from "../daemon/process/process-identity.ts"
import type { AgentLine, OpenLine } from "../domain/agent-line.ts"
import { makeClients } from "../domain/caller.ts"
import { newMessageId, newSessionId, type SessionId } from "../domain/ids.ts"
import type { LiveSessions } from "../domain/live.ts"
import { AGENT_CHANNEL, laneOf, targetOf } from "../domain/message.ts"
import type { PaneAddress } from "../domain/panes.ts"
import type { Store } from "../domain/store.ts"
import { makeLive } from "../live/live.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeRoster } from "../teams/roster.ts"
import { makeMessageQueue, type QueueModule } from "./module.ts"

const SOON = { timeout: 60_000, interval: 50 }
const owner = { kind: "owner", name: "the owner" } as const

let dir: string
let store: Store
let agents: FakeAgents
let lines: AgentLine[]
let reach: QueueModule
let reachable: LiveSessions
let ending: AbortController
let running: Promise<void>
beforeEach(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "reach-")))
  store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
  agents = makeFakeAgents()
  lines = []
  const clock = { nowMs: () => Date.now() }
  const roster = makeRoster({ read: () => ({}) })
  const machine = { os: "linux" as const, homeDir: agents.dir, env: {} }
  const deps = { store, clock, roster, machine, consoles: [claudeCode], processStart, host: "here" }
  reachable = makeLive(deps)
  reach = makeMessageQueue({
    ...deps,
    clients: makeClients({ platforms: [], others: [], redact: (text) => text }),
    live: reachable,
    panes: agents.panes,
    lines,
    settings: { duplicateWindowSeconds: 600, maxMessageBytes: 200_000, expireDays: 30 },
    home: dir,
    parentOf,
    // Nobody comes or goes in these stories.
    watch: { mayReturn: async () => false, reportTakeovers: async () => {}, readName: async () => {} },
    hookless: { fetches: async () => false, named: async () => undefined },
    wake: async () => false,
    redact: (text) => text,
    labelOf: (platform) => ({ "gemini-cli": "Gemini CLI" })[platform] ?? platform,
    hasSpooled: async () => false,
    onTrouble: (error) => {
      throw error
    },
  })
  ending = new AbortController()
  running = reach.run(ending.signal)
})
afterEach(async () => {
  ending.abort()
  await running
  agents.end()
  await store.close()
  rmSync(dir, { recursive: true })
})

/** As hooks would have made it known. */
async function known(
  { pid, nativeId, pane }: { pid: number; nativeId: string; pane: PaneAddress | null },
  platform = "claude-code",
): Promise<SessionId> {
  const created = { id: newSessionId(), platform, nativeId, projectId: null, title: "t" }
  const { session } = await store.sessions.create({ ...created, tags: [], key: null, createdAtMs: 1 })
  const route = { sessionId: session.id, host: "here", pid, processStart: processStart(pid)!, pane, seenAtMs: 1 }
  await store.routes.put(route)
  return session.id
}
const knownAgent = ({ pid, pane, registry }: FakeAgent) =>
  known({ pid, pane, nativeId: registry()!.sessionId as string })
const outcome = (id: string) => async () => (await reach.messages.byId(id))!.outcome
const state = (id: string) => async () => (await reach.messages.byId(id))!.state
const send = async (sessionId: SessionId, text: string, more: object = {}) =>
  ((await reach.messages.send({ sessionId, text, sender: owner, ...more })) as { id: string }).id
/** Handed over by a dispatcher that is dead by now. */
async function cutOff(sessionId: SessionId, text: string): Promise<string> {
  const key = newMessageId(targetOf({ sessionId }))
  const payload = { sessionId, text, priority: "normal", sender: owner, isCommand: true }
  const lane = laneOf({ sessionId }, "normal")
  await store.transaction(async (tx) => {
    const nowMs = Date.now()
    await tx.deliveries.enqueue({ key, lane, channel: AGENT_CHANNEL, payload, repeatable: false }, nowMs)
    const request = { owner: "dead", host: "here", leaseMs: 1, limit: 1, channels: [AGENT_CHANNEL], lanes: [lane] }
    const [leased] = await tx.deliveries.lease(request, nowMs)
    await tx.deliveries.startAttempt(leased!.seq, "dead", nowMs, { sessionId, route: "pane" })
  })
  return key
}
async function types(agent: FakeAgent, text: string): Promise<void> {
  await agents.panes.paste(agent.pane, text)
  await agents.panes.key(agent.pane, "Enter")
}

describe("a turn is interrupted", () => {
  test("by Escape in the session's pane, once, and in no other pane", async () => {
    const [one, two] = [await agents.start({ name: "one" }), await agents.start({ name: "two" })]
    const ids = [await knownAgent(one), await knownAgent(two)]
    for (const agent of [one, two]) await types(agent, "work\nSLOW 60000")
    for (const agent of [one, two]) await expect.poll(() => agent.registry()?.status, SOON).toBe("busy")
    expect(await reach.messages.interrupt(ids[0]!)).toEqual({ interrupted: true, way: "pane" })
    expect(one.registry()?.status).toBe("idle")
    expect(two.registry()?.status).toBe("busy")
    expect(await reach.messages.interrupt(ids[0]!)).toEqual({ interrupted: false, reason: "the agent is idle" })
    expect(one.log().filter(({ kind }) => kind === "interrupted")).toHaveLength(1)
  })

  test("but a question that the agent asks is not answered by it", async () => {
    const box = await agents.start({ name: "box" })
    const id = await knownAgent(box)
    await types(box, "ask\nDIALOG touch x")
    await expect.poll(() => box.registry()?.status, SOON).toBe("waiting")
    expect(await reach.messages.interrupt(id)).toEqual({
      interrupted: false,
      reason: "the agent is waiting for its user (permission prompt)",
    })
    expect(box.registry()?.status).toBe("waiting")
  })

  test("not in a session that has ended, or whose pane has another one now", async () => {
    const box = await agents.start({ name: "box" })
    const id = await knownAgent(box)
    await types(box, "work\nCLEAR\nSLOW 60000")
    await expect.poll(() => box.log().filter(({ kind }) => kind === "turn").length, SOON).toBe(1)
    await expect
      .poll(() => reach.messages.interrupt(id), SOON)
      .toEqual({
        interrupted: false,
        reason: "the session has ended",
      })
    expect(box.registry()?.status).toBe("busy")
  })

  test("on the line of a platform that has one", async () => {
    let status: OpenLine["status"] = "busy"
    let isClosed = false
    const line: OpenLine = {
      get status() {
        return status
      },
      isLive: true,
      submit: async () => {},
      stateOf: async () => ({ kind: "none" }),
      changed: async () => {},
      interrupt: async () => {
        status = "idle"
      },
      close() {
        isClosed = true
      },
    }
    lines.push({ platform: "other", open: async () => line })
    const id = await known({ pid: process.pid, nativeId: "o1", pane: null }, "other")
    expect(await reach.messages.interrupt(id)).toEqual({ interrupted: true, way: "line" })
    expect(await reach.messages.interrupt(id)).toEqual({ interrupted: false, reason: "the agent is idle" })
    expect(isClosed).toBe(true)
  })
})

describe("a command of the agent's own", () => {
  test("is typed as it is, once, although the agent says nothing of it", async () => {
    const box = await agents.start({ name: "box" })
    const id = await send(await knownAgent(box), "/cost now", { isCommand: true })
    await expect.poll(state(id), SOON).toBe("delivered")
    expect(box.log().filter(({ kind }) => kind === "unknown-command")).toMatchObject([{ text: "/cost now" }])
    expect(box.prompts()).toEqual([])
  })

  test("that a daemon died over gets its Enter where it stands in the input line, and is never typed again", async () => {
    const [held, lost] = [await agents.start({ name: "held" }), await agents.start({ name: "lost" })]
    await agents.panes.paste(held.pane, "/cost now")
    const ids = [await cutOff(await knownAgent(held), "/cost now"), await cutOff(await knownAgent(lost), "/cost now")]
    await expect.poll(state(ids[0]!), { timeout: 60_000, interval: 100 }).toBe("delivered")
    await expect.poll(state(ids[1]!), { timeout: 60_000, interval: 100 }).toBe("uncertain")
    const commands = (agent: FakeAgent) => agent.log().filter(({ kind }) => kind === "unknown-command")
    expect(commands(held)).toMatchObject([{ text: "/cost now" }])
    expect(commands(lost)).toEqual([])
  }, 240_000)

  test("that would end the session fails, and says why", async () => {
    const box = await agents.start({ name: "box" })
    const id = await send(await knownAgent(box), "/exit", { isCommand: true })
    await expect.poll(state(id), SOON).toBe("failed")
    expect(await outcome(id)()).toMatch(/would end the session/)
    expect(box.isThere()).toBe(true)
  })
})

describe("by a line of the platform", () => {
  /** Submits wait until they are let through. */
  function gatedLine(status: () => OpenLine["status"] = () => "idle") {
    const [begun, through] = [[] as string[], new Set<string>()]
    lines.push({
      platform: "other",
      open: async () => ({
        get status() {
          return status()
        },
        isLive: true,
        async submit({ text }) {
          begun.push(text)
          while (!through.has(text)) await sleep(5)
        },
        stateOf: async () => ({ kind: "completed" }),
        changed: async () => {},
        interrupt: async () => {},
        close() {},
      }),
    })
    return { begun, through }
  }

  test("a normal message does not enter while the agent is busy, an urgent one does", async () => {
    let status: OpenLine["status"] = "busy"
    const { begun, through } = gatedLine(() => status)
    for (const text of ["later", "now"]) through.add(text)
    const session = await known({ pid: process.pid, nativeId: "o1", pane: null }, "other")
    const later = await send(session, "later")
    await expect.poll(outcome(later), SOON).toBe("the agent is busy")
    const now = await send(session, "now", { priority: "urgent" })
    await expect.poll(state(now), SOON).not.toBe("queued")
    expect(await outcome(later)()).toBe("the agent is busy")
    expect(begun).toEqual(["now"])
    status = "idle"
    await expect.poll(state(later), SOON).not.toBe("queued")
    expect(begun).toEqual(["now", "later"])
  })

  test("a message whose agent has moved to another pane waits for its turn there", async () => {
    const { begun, through } = gatedLine()
    const paneAt = (pane: string) => ({ socket: "/s", serverPid: 1, serverStart: 1, pane, panePid: 1 })
    const mover = await known({ pid: process.pid, nativeId: "mover", pane: paneAt("%1") }, "other")
    const other = await known({ pid: process.pid, nativeId: "other", pane: paneAt("%2") }, "other")
    const [first, there] = [await send(mover, "first"), await send(other, "there")]
    await expect.poll(() => begun.toSorted(), SOON).toEqual(["first", "there"])
    const second = await send(mover, "second", { priority: "urgent" })
    await expect.poll(async () => (await reach.messages.byId(second))!.leaseOwner, SOON).not.toBeNull()
    // It has found the agent at the first pane by then; too short a pause would prove nothing, and fail nothing.
    await sleep(300)
    const route = { sessionId: mover, host: "here", pid: process.pid, processStart: processStart(process.pid)! }
    await store.routes.put({ ...route, pane: paneAt("%2"), seenAtMs: 2 })
    through.add("first")
    await expect.poll(outcome(second), SOON).toBe("the agent has moved")
    expect(begun).not.toContain("second")
    for (const text of ["there", "second"]) through.add(text)
    for (const id of [first, there, second]) await expect.poll(state(id), SOON).not.toBe("queued")
  })
})

describe("where a session is reached", () => {
  const live = async (sessionId: SessionId) => (await reachable.ofSession(sessionId))!

  test("is its pane as long as it runs there, whatever is kept of it", async () => {
    const [one, two] = [await agents.start({ name: "one" }), await agents.start({ name: "two" })]
    const [first, second] = [await knownAgent(one), await knownAgent(two)]
    expect(await reach.routesTo(await live(first))).toEqual({ pane: one.pane.pane })
    // As after a restart of tmux: the number is another agent's now.
    const stale = { ...one.pane, pane: two.pane.pane }
    const route = { sessionId: second, host: "here", pid: two.pid, processStart: processStart(two.pid)!, seenAtMs: 2 }
    await store.routes.put({ ...route, pane: stale })
    expect(await reach.routesTo(await live(second))).toEqual({})
    await store.routes.put({ ...route, pane: one.pane })
    expect(await reach.routesTo(await live(second))).toEqual({})
    await store.routes.put({ ...route, pane: two.pane })
    expect(await reach.routesTo(await live(second))).toEqual({ pane: two.pane.pane })
  })

  test("is its own protocol where nothing else is known of it", async () => {
    let isLive = true
    const line = {
      stateOf: async () => ({ kind: "none" as const }),
      changed: async () => {},
      interrupt: async () => {},
    }
    lines.push({
      platform: "other",
      open: async () => ({ ...line, status: "idle", isLive, submit: async () => {}, close() {} }),
    })
    const session = await known({ pid: process.pid, nativeId: "o1", pane: null }, "other")
    expect(await reach.routesTo(await live(session))).toEqual({ direct: true })
    isLive = false
    expect(await reach.routesTo(await live(session))).toEqual({})
  })
})

test("an agent that nothing can be typed into keeps its messages waiting, and says so", async () => {
  const session = await known({ pid: process.pid, nativeId: "g1", pane: null }, "gemini-cli")
  const id = await send(session, "are you there")
  await expect.poll(outcome(id), SOON).toBe("Gemini CLI does not accept typed messages")
  expect(await state(id)()).toBe("queued")
})

test("a session that was seen on another host last is said to be there", async () => {
  const session = await known({ pid: process.pid, nativeId: "far", pane: null })
  await store.routes.drop(session, "here", process.pid)
  await store.routes.put({ sessionId: session, host: "there", pid: 7, processStart: "7", pane: null, seenAtMs: 1 })
  const id = await send(session, "are you there")
  await expect.poll(outcome(id), SOON).toBe("the session was last seen on there")
})
