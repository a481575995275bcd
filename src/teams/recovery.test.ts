import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { processStart } from "../daemon/process/process-identity.ts"
import type { Delivery } from "../domain/delivery.ts"
import { newSessionId, type SessionId } from "../domain/ids.ts"
import { PAIR_CHANNEL, type Pair, pairLane } from "../domain/pair.ts"
import { workedOnBy } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import type { Turn } from "../domain/turn.ts"
import { pause } from "../lib/clock.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import type { OpenSessionDelivery } from "./open-session.ts"
import { makeRecovery } from "./recovery.ts"

/** The pauses that were asked for; each takes a fiftieth of its time. */
const waits: number[] = []
const fastPause: typeof pause = (ms, signal) => {
  waits.push(ms)
  return pause(ms / 50, signal)
}
const waitedMs = () => waits.reduce((sum, ms) => sum + ms, 0)
const hasWaited = (ms: number) => vi.waitUntil(() => waitedMs() >= ms, { timeout: 20_000, interval: 1 })

const NOW = 1_800_000_000_000
const KEY = "m-00000000000000aa"
const NEVER = new AbortController().signal
const no = () => false

let dir: string
let store: Store
let sessionId: SessionId
let nowMs: number
/** What stands in the agent's records at each reading, the last one from then on. */
let records: (() => Promise<boolean>)[]
let reads: string[]
let ended: number[]
let openSession: OpenSessionDelivery
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "asked-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = NOW
  records = [async () => true]
  reads = []
  waits.length = 0
  ended = []
  openSession = { deliver: () => Promise.reject(new Error("nobody has it open")) }
  const created = { id: newSessionId(), platform: "claude-code", nativeId: "n1", projectId: null, title: "t" }
  sessionId = (await store.sessions.create({ ...created, tags: [], key: null, createdAtMs: 1 })).session.id
  await addPair({})
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

const addPair = (more: Partial<Pair>) =>
  store.pairs.ensure({
    ...{ id: "p1", fromTeam: "web", toTeam: "api", threadId: "main", platform: "claude-code", nativeId: "n1" },
    ...{ isMade: false, madeAtMs: null, status: "active", messageCount: 1, createdAtMs: NOW, lastUsedAtMs: NOW },
    ...more,
  })

interface Begun {
  pairId?: string
  payload?: object
  /** Whose turn it is, as it was written down. */
  worker?: string | null
  /** An agent has said that it has it. */
  isDelivered?: boolean
}
/** Begun with by a daemon that died over it. */
async function begun({
  pairId = "p1",
  payload = {},
  worker = GONE,
  isDelivered = false,
}: Begun = {}): Promise<Delivery> {
  const asked = { pairId, text: "why", sender: "web", fromTeam: "web", toTeam: "api", threadId: "main", chain: [] }
  const message = { key: KEY, lane: pairLane(pairId), channel: PAIR_CHANNEL, repeatable: false }
  await store.deliveries.enqueue({ ...message, payload: { ...asked, ...payload } }, NOW)
  const lease = { owner: "o", host: "here", leaseMs: 60_000, limit: 1, channels: [PAIR_CHANNEL] }
  const [leased] = await store.deliveries.lease(lease, NOW)
  await store.deliveries.startAttempt(leased!.seq, "o", NOW)
  if (isDelivered) await store.deliveries.settle(leased!.seq, "o", "delivered", worker, NOW)
  return { ...(await kept()), outcome: worker }
}
const GONE = workedOnBy(999_999_999, "1")
const kept = async () => (await store.deliveries.byKey(KEY))!
const settledAs = async () => {
  const { state, outcome } = await kept()
  return [state, outcome]
}
const told = async () =>
  (await store.journal.after(0, 100)).map(({ kind, data }) => [kind, (data as { reason?: string }).reason])

const recovery = () =>
  makeRecovery({
    ...{ store, clock: { nowMs: () => nowMs }, processStart, openSession, pause: fastPause },
    endProcess(pid) {
      ended.push(pid)
      process.kill(pid, "SIGKILL")
    },
    readRecords(platform) {
      reads.push(platform)
      return records[Math.min(reads.length, records.length) - 1]!()
    },
  })

let turns = 0
async function said(kind: Turn["kind"], text: string, more: Partial<Turn> = {}): Promise<void> {
  const rest = { model: null, toolName: null, toolCallId: null, isError: false, isFallback: false, sourceId: null }
  const at = { atMs: NOW + 100 + ++turns, usage: null }
  await store.turns.put([{ sessionId, nativeId: `t${turns}`, kind, text, ...at, ...rest, ...more }])
}
const FOUND = "found in the agent's own records"
const UNFINISHED = "Throughline stopped, and then the agent, before it answered"

describe("an answer that stands in the agent's records", () => {
  test("is the question's, with its time, its tokens and its cost", async () => {
    await said("prompt", `[Message ${KEY}]\nwhy`)
    await said("tool_call", "look")
    const usage = { inputTokens: 12, outputTokens: 3, costUsd: 0.5 }
    await said("reply", "because", { atMs: NOW + 500, usage })
    nowMs = NOW + 9_000
    await recovery().settle(await begun(), no, NEVER)
    expect(await settledAs()).toEqual(["done", FOUND])
    expect(await told()).toEqual([["message.done", FOUND]])
    expect(await store.pairs.answerTo(KEY)).toEqual({
      ...{ messageId: KEY, pairId: "p1", nativeId: "n1", text: "because", isContextNew: false },
      ...{ durationMs: 500, inputTokens: 12, outputTokens: 3, costUsd: 0.5, atMs: NOW + 9_000 },
    })
    expect(await store.pairs.byId("p1")).toMatchObject({ isMade: true, madeAtMs: NOW + 500 })
    expect(reads).toEqual(["claude-code"])
  })

  test("may lack tokens and times", async () => {
    await said("prompt", KEY, { atMs: NOW - 9 })
    await said("reply", "because", { atMs: NOW - 5 })
    await recovery().settle(await begun(), no, NEVER)
    const none = { durationMs: 0, inputTokens: 0, outputTokens: 0, costUsd: null }
    expect(await store.pairs.answerTo(KEY)).toMatchObject(none)
  })

  test("takes no time where it is not known when it was begun with", async () => {
    await said("prompt", KEY)
    await said("reply", "because")
    await recovery().settle({ ...(await begun()), attemptStartedAtMs: null }, no, NEVER)
    expect(await store.pairs.answerTo(KEY)).toMatchObject({ durationMs: 0, text: "because" })
  })

  test.each([
    [false, "lost", true],
    [false, "reset", true],
    [false, "first", false],
    [true, "lost", false],
  ])("tells that the context is new, where it is (made %s, begun as %s)", async (isMade, why, isContextNew) => {
    await store.pairs.update("p1", { isMade, ...(isMade ? { madeAtMs: NOW - 1 } : {}) })
    await store.pairs.addSession({
      pairId: "p1",
      nativeId: "n0",
      sinceMs: NOW - 9,
      why: isContextNew ? "first" : "lost",
    })
    await store.pairs.addSession({ pairId: "p1", nativeId: "n1", sinceMs: NOW - 8, why })
    await said("prompt", KEY, { atMs: NOW })
    await said("reply", "because", { atMs: NOW + 7 })
    await recovery().settle(await begun(), no, NEVER)
    expect(await store.pairs.answerTo(KEY)).toMatchObject({ isContextNew })
    expect(await store.pairs.byId("p1")).toMatchObject({ isMade: true, madeAtMs: isMade ? NOW - 1 : NOW + 7 })
  })

  test("ends where the next prompt begins", async () => {
    await said("prompt", "something before")
    await said("reply", "not this")
    await said("prompt", KEY)
    await said("reply", "because")
    await said("prompt", "something else")
    await said("reply", "nor this")
    await said("tool_call", "nor that")
    await recovery().settle(await begun(), no, NEVER)
    expect(await store.pairs.answerTo(KEY)).toMatchObject({ text: "because" })
  })

  test("is the one to the last time that it was asked", async () => {
    for (const answer of ["first", "second"]) {
      await said("prompt", KEY)
      await said("reply", answer)
    }
    await recovery().settle(await begun(), no, NEVER)
    expect(await store.pairs.answerTo(KEY)).toMatchObject({ text: "second" })
  })

  test("is stored even if the question was cancelled meanwhile", async () => {
    await said("prompt", KEY)
    await said("reply", "because")
    await recovery().settle(await begun(), () => true, NEVER)
    expect(await settledAs()).toEqual(["done", FOUND])
  })

  test("is not written for a question that somebody has settled", async () => {
    await said("prompt", KEY)
    await said("reply", "because")
    const delivery = await begun()
    await store.deliveries.settle(delivery.seq, "o", "failed", "by hand", NOW)
    await recovery().settle(delivery, no, NEVER)
    expect(await settledAs()).toEqual(["failed", "by hand"])
    expect(await store.pairs.answerTo(KEY)).toBeUndefined()
  })

  test("is waited for a moment after its process is gone", async () => {
    await said("prompt", KEY)
    records.push(async () => {
      await said("reply", "because")
      return true
    })
    await recovery().settle(await begun(), no, NEVER)
    expect(await store.pairs.answerTo(KEY)).toMatchObject({ text: "because" })
    expect(reads).toHaveLength(2)
  })
})

describe("without an answer", () => {
  test("it has failed where the agent had taken it", async () => {
    await said("prompt", KEY)
    await said("reply", "let me look")
    await said("tool_call", "look")
    await recovery().settle(await begun(), no, NEVER)
    expect(await settledAs()).toEqual(["failed", UNFINISHED])
    expect(await told()).toEqual([["message.failed", UNFINISHED]])
  })

  test("it is asked again where the agent had not taken it", async () => {
    await said("prompt", "something else")
    await said("reply", `${KEY} is named in a reply`)
    const delivery = await begun()
    await recovery().settle(delivery, no, NEVER)
    expect(await kept()).toMatchObject({
      ...{ state: "queued", outcome: "it had not arrived", leaseOwner: null, dueAtMs: delivery.dueAtMs },
    })
    // Three seconds, after a first look.
    expect(waits).toEqual(Array(12).fill(250))
    expect(reads).toHaveLength(13)
  })

  test("it has failed where an agent was said to have it and does not", async () => {
    await recovery().settle(await begun({ isDelivered: true }), no, NEVER)
    expect(await settledAs()).toEqual(["failed", "Throughline stopped before the agent accepted it"])
  })

  test("it is not waited for any longer once nothing is captured any more", async () => {
    records.push(async () => false)
    await recovery().settle(await begun(), no, NEVER)
    expect(await settledAs()).toEqual(["uncertain", "nothing is captured that could confirm it"])
    expect(reads).toHaveLength(2)
  })

  test("it is uncertain if nothing is captured, without waiting", async () => {
    records = [async () => false]
    await recovery().settle(await begun(), no, NEVER)
    expect(await settledAs()).toEqual(["uncertain", "nothing is captured that could confirm it"])
    expect(reads).toHaveLength(1)
  })

  test("it is cancelled on request", async () => {
    records = [async () => false]
    await recovery().settle(await begun(), () => true, NEVER)
    expect(await settledAs()).toEqual(["cancelled", "it was cancelled"])
  })

  test("of a pair whose session has no name yet, or is not kept, it was not taken", async () => {
    records = [async () => false]
    await addPair({ id: "p2", toTeam: "two", nativeId: null })
    await recovery().settle(await begun({ pairId: "p2" }), no, NEVER)
    expect(await settledAs()).toEqual(["uncertain", "nothing is captured that could confirm it"])
  })

  test("it has failed where its pair no longer exists", async () => {
    await recovery().settle(await begun({ pairId: "p9" }), no, NEVER)
    expect(await settledAs()).toEqual(["failed", "its pair no longer exists"])
    expect(reads).toEqual([])
  })
})

describe("a process that still works on it", () => {
  async function worker(): Promise<{ child: ChildProcess; worker: string }> {
    const child = spawn("sleep", ["300"])
    onTestFinished(() => void child.kill("SIGKILL"))
    await once(child, "spawn")
    return { child, worker: workedOnBy(child.pid!, processStart(child.pid!)!) }
  }

  test("is left alone until it has ended", async () => {
    const { child, worker: outcome } = await worker()
    await said("prompt", KEY)
    await said("reply", "because")
    const settling = recovery().settle(await begun({ worker: outcome, isDelivered: true }), no, NEVER)
    await hasWaited(1_000)
    expect(reads).toEqual([])
    child.kill("SIGKILL")
    await settling
    expect(await settledAs()).toEqual(["done", FOUND])
    expect(ended).toEqual([])
  })

  test("is ended where its question is cancelled", async () => {
    const { child, worker: outcome } = await worker()
    records = [async () => false]
    await recovery().settle(await begun({ worker: outcome, isDelivered: true }), () => true, NEVER)
    expect(new Set(ended)).toEqual(new Set([child.pid]))
    expect(await settledAs()).toEqual(["cancelled", "it was cancelled"])
  })

  test("is not one that got its number later, and that is never ended", async () => {
    const { child } = await worker()
    records = [async () => false]
    const delivery = await begun({ worker: workedOnBy(child.pid!, "another"), isDelivered: true })
    await recovery().settle(delivery, () => true, NEVER)
    expect(ended).toEqual([])
    expect(child.exitCode).toBeNull()
  })

  test("is not waited for when the program is to end", async () => {
    const { worker: outcome } = await worker()
    const ending = new AbortController()
    const settling = recovery().settle(await begun({ worker: outcome }), no, ending.signal)
    ending.abort()
    await settling
    expect(await settledAs()).toEqual(["queued", null])
    expect(reads).toEqual([])
  })
})

describe("when the program is to end", () => {
  test("nothing is decided of a question whose process is not known", async () => {
    await recovery().settle(await begun({ worker: null }), no, AbortSignal.abort())
    expect(await settledAs()).toEqual(["queued", null])
    expect(reads).toEqual([])
  })

  test("nothing is decided between two looks", async () => {
    const ending = new AbortController()
    records = [
      async () => {
        ending.abort()
        return true
      },
    ]
    await recovery().settle(await begun(), no, ending.signal)
    expect(await settledAs()).toEqual(["queued", null])
    expect(reads).toHaveLength(1)
  })
})

test("a question of an unknown process is looked up only after a grace period", async () => {
  await said("prompt", KEY)
  await said("reply", "because")
  const settling = recovery().settle(await begun({ worker: null }), no, NEVER)
  await hasWaited(1)
  expect([waits, reads]).toEqual([[3_000], []])
  await settling
  expect(reads).toHaveLength(1)
  expect(await settledAs()).toEqual(["done", FOUND])
})

describe("a question that was said in a session that a person has open", () => {
  const payload = { handed: { sessionId: "s", times: 1 } }

  test("is left to it", async () => {
    const given: unknown[] = []
    openSession = {
      async deliver(delivery, pair) {
        given.push(delivery.key, pair.id)
        return "settled"
      },
    }
    await recovery().settle(await begun({ payload }), no, NEVER)
    expect(given).toEqual([KEY, "p1"])
    expect(await settledAs()).toEqual(["queued", null])
    expect(reads).toEqual([])
  })

  test("and was closed before it was said is asked again", async () => {
    openSession = { deliver: async () => "closed" }
    await recovery().settle(await begun({ payload }), no, NEVER)
    expect(await settledAs()).toEqual(["queued", "it had not arrived"])
    expect(reads).toEqual([])
  })
})
