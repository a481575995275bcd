import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type FakeAgents, makeFakeAgents } from "../../test/fixtures/fake-agents.ts"
import { claudeCode } from "../agents/claude-code/console.ts"
import { parentOf, processStart } from "../daemon/process/process-identity.ts"
import type { OpenLine } from "../domain/agent-line.ts"
import { Failure } from "../domain/failure.ts"
import { newSessionId } from "../domain/ids.ts"
import type { LiveAgent } from "../domain/live.ts"
import { AGENT_CHANNEL, laneOf } from "../domain/message.ts"
import type { PaneAddress } from "../domain/panes.ts"
import type { Store } from "../domain/store.ts"
import { isUnder } from "../lib/process-ancestry.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeDeliver } from "./deliver.ts"
import { makeMessageLeases } from "./message-leases.ts"
import { makePaster } from "./paste.ts"

const ID = "m-0000000000000001"
const WORDS = "the daemon of Codex: no input of that kind"
let dir: string
let store: Store
let agents: FakeAgents
let isClosed: boolean
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "hand-"))
  store = await openStore(sqlite({ path: join(dir, "t.db"), onKeptAside: () => {} }))
  agents = makeFakeAgents()
  isClosed = false
})
afterEach(async () => {
  agents.end()
  await store.close()
  rmSync(dir, { recursive: true })
})

/** A platform that takes nothing. */
const refusing: OpenLine = {
  status: "idle",
  isLive: true,
  submit: () => Promise.reject(new Failure("agent_refused", WORDS)),
  stateOf: async () => ({ kind: "none" }),
  changed: async () => {},
  interrupt: async () => {},
  close() {
    isClosed = true
  },
}

async function deliver(pid: number, pane: PaneAddress | null) {
  const clock = { nowMs: () => Date.now() }
  const created = { id: newSessionId(), platform: "claude-code", nativeId: "s1", projectId: null, title: "t" }
  const { session } = await store.sessions.create({ ...created, tags: [], key: null, createdAtMs: 1 })
  const payload = { team: "api", text: "fix the DNS", priority: "normal", sender: { kind: "owner", name: "o" } }
  const message = {
    key: ID,
    lane: laneOf({ team: "api" }, "normal"),
    channel: AGENT_CHANNEL,
    payload,
    repeatable: false,
  }
  await store.deliveries.enqueue(message, clock.nowMs())
  const leases = makeMessageLeases({ store, clock, host: "here", ownerPrefix: "c ", owner: "c 1" })
  const [delivery] = await leases.take({}, 1)
  const start = processStart(pid) ?? null
  const where = { sessionId: session.id, platform: "claude-code", nativeId: "s1", host: "here", pid, seenAtMs: 1 }
  const agent: LiveAgent = {
    ...{ session, status: "idle", waitingFor: null, statusAtMs: null, pid, processStart: start, dir: null },
    ...{
      isUnattended: false,
      isShown: undefined,
      teams: ["api"],
      route: { ...where, processStart: start ?? "", pane },
    },
  }
  const hand = makeDeliver({
    leases,
    paster: makePaster({ panes: agents.panes, consoles: [claudeCode] }),
    hooks: { wake: () => false },
    lineTurns: { follow: () => {} },
    consoles: [claudeCode],
    isUnder: (one, above) => isUnder(one, above, parentOf),
    processStart,
    isStillThere: async () => true,
  })
  return hand({ kind: "line", agent, line: refusing, isStop: false }, delivery!, AbortSignal.abort())
}

test("what the platform refuses fails with its words", async () => {
  expect(await deliver(7, null)).toEqual({ kind: "settled" })
  expect(await store.deliveries.byKey(ID)).toMatchObject({ state: "failed", outcome: WORDS, route: "line" })
  expect(isClosed).toBe(true)
})

test("what the platform refuses is typed where there is a pane, and that way is written down", async () => {
  const box = await agents.start({ name: "box" })
  expect(await deliver(box.pid, box.pane)).toEqual({ kind: "unconfirmed" })
  expect(box.prompts()).toEqual(["fix the DNS"])
  expect(await store.deliveries.byKey(ID)).toMatchObject({ state: "queued", route: "pane" })
})
