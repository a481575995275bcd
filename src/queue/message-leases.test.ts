import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import type { Delivery, NewDelivery } from "../domain/delivery.ts"
import { newSessionId, type SessionId } from "../domain/ids.ts"
import type { LiveAgent } from "../domain/live.ts"
import { AGENT_CHANNEL, laneOf, messageOf } from "../domain/message.ts"
import { because } from "../domain/reason.ts"
import type { Store } from "../domain/store.ts"
import { LEASE_MS } from "../lib/leases.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { type MessageLeases, makeMessageLeases } from "./message-leases.ts"

const NOW = 1_800_000_000_000
const NEVER = new AbortController().signal
/** Longer than any test: only what is waited for can end it. */
const FOREVER_MS = 300_000

let dir: string
let store: Store
let nowMs: number
let sessionId: SessionId
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "leases-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  nowMs = NOW
  const created = { id: newSessionId(), platform: "claude-code", nativeId: "s1", projectId: null, title: "t" }
  sessionId = (await store.sessions.create({ ...created, tags: [], key: null, createdAtMs: NOW })).session.id
})
afterEach(async () => {
  await store.close()
  rmSync(dir, { recursive: true })
})

const leasesOf = (name: string, over: Partial<Store> = {}): MessageLeases =>
  makeMessageLeases({
    store: { ...store, ...over },
    ...{ clock: { nowMs: () => nowMs }, host: "here", ownerPrefix: "dispatcher ", owner: `dispatcher ${name}` },
  })
async function enqueue(key: string, more: Partial<NewDelivery> = {}): Promise<void> {
  const team = key.slice(0, 1)
  const payload = { team, text: "words", priority: "normal", sender: { kind: "owner", name: "o" } }
  const message = { key, lane: laneOf({ team }, "normal"), channel: AGENT_CHANNEL, payload, repeatable: false }
  await store.deliveries.enqueue({ ...message, ...more }, nowMs)
}
async function taken(leases: MessageLeases, key = "a1"): Promise<Delivery> {
  await enqueue(key)
  return (await leases.take({}, 1))[0]!
}
const kept = async (key: string) => (await store.deliveries.byKey(key))!
const keys = (found: Delivery[]) => found.map(({ key }) => key)
const agent = () => ({ session: { id: sessionId, platform: "claude-code", nativeId: "s1" } }) as LiveAgent
const told = async () =>
  (await store.journal.after(0, 100)).flatMap(({ kind, data }) => (kind.startsWith("message.") ? [[kind, data]] : []))

describe("what is taken", () => {
  test("is the first of each lane, leased, and in hand", async () => {
    for (const key of ["a1", "a2", "b1", "c1"]) await enqueue(key)
    await enqueue("d1", { channel: "telegram" })
    await enqueue("e1", { host: "there" })
    const leases = leasesOf("1")
    expect(keys(await leases.take({}, 2))).toEqual(["a1", "b1"])
    expect(leases.held.size).toBe(2)
    expect(await kept("a1")).toMatchObject({ leaseOwner: "dispatcher 1", leaseUntilMs: NOW + LEASE_MS, attempts: 1 })
    expect(keys(await leases.take({}, 9))).toEqual(["c1"])
    expect(keys(await leasesOf("2").take({}, 9))).toEqual([])
  })

  test("comes from the lanes that are named, or from all but those", async () => {
    for (const key of ["a1", "b1", "c1"]) await enqueue(key)
    const leases = leasesOf("1")
    const lane = (team: string) => laneOf({ team }, "normal")
    expect(keys(await leases.take({ except: [lane("a"), lane("b")] }, 9))).toEqual(["c1"])
    expect(keys(await leases.take({ only: [lane("b")] }, 9))).toEqual(["b1"])
  })

  test("is not one whose time ran out: that expires, and the journal says so", async () => {
    await enqueue("a1", { expiresAtMs: NOW + 5 })
    await enqueue("a2")
    nowMs = NOW + 5
    expect(keys(await leasesOf("1").take({}, 9))).toEqual(["a2"])
    const reason = "it expired before it could be delivered"
    expect(await kept("a1")).toMatchObject({ state: "expired", outcome: reason, settledAtMs: nowMs })
    expect(await told()).toEqual([["message.expired", { id: "a1", team: "a", state: "expired", reason }]])
  })
})

describe("a row that was damaged by hand", () => {
  const broken = { text: "Build it", priority: "whenever" }
  const reason = "its stored content is damaged at its beginning; send it again"
  const damage = async (key: string) => store.deliveries.rewrite((await kept(key)).seq, broken)

  test("fails with what to do, and its lane moves on", async () => {
    for (const key of ["a1", "a2", "b1"]) await enqueue(key)
    await damage("a1")
    const leases = leasesOf("1")
    expect(keys(await leases.take({}, 9))).toEqual(["b1"])
    expect(await kept("a1")).toMatchObject({ state: "failed", outcome: reason })
    expect(await told()).toEqual([["message.failed", { id: "a1", team: "a", state: "failed", reason }]])
    expect(messageOf(await kept("a1")), "and is listed with what can be read").toMatchObject({ text: "Build it" })
    expect(keys(await leases.take({}, 9))).toEqual(["a2"])
  })

  test("while it was being delivered is left to a person", async () => {
    const leases = leasesOf("1")
    await leases.begin(await taken(leases), agent(), "pane")
    await damage("a1")
    nowMs += LEASE_MS
    expect(await leasesOf("2").takeCutOff(9)).toEqual([])
    expect(await kept("a1")).toMatchObject({ state: "uncertain", outcome: reason })
  })

  test("expires without stopping the others", async () => {
    for (const key of ["a1", "b1"]) await enqueue(key, { expiresAtMs: key === "a1" ? NOW : null })
    await damage("a1")
    expect(keys(await leasesOf("1").take({}, 9))).toEqual(["b1"])
    expect(await told()).toEqual([
      ["message.expired", { id: "a1", sessionId: null, state: "expired", reason: expect.any(String) }],
    ])
  })
})

describe("an attempt", () => {
  test("is written down with its session and way before anything is done", async () => {
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    nowMs += 7
    expect(await leases.begin(delivery, agent(), "wake")).toBe(true)
    const way = { sessionId, route: "wake", attemptStartedAtMs: NOW + 7 }
    expect(delivery).toMatchObject(way)
    expect(await kept("a1")).toMatchObject({ ...way, state: "queued", leaseOwner: "dispatcher 1" })
  })

  test("does not begin where somebody else has it now", async () => {
    const delivery = await taken(leasesOf("1"))
    nowMs += LEASE_MS
    const other = leasesOf("2")
    expect(keys(await other.take({}, 1))).toEqual(["a1"])
    expect(await leasesOf("1").begin(delivery, agent(), "pane")).toBe(false)
    expect(delivery).toMatchObject({ sessionId: null, route: null, attemptStartedAtMs: null })
    expect(await kept("a1")).toMatchObject({ attemptStartedAtMs: null, leaseOwner: "dispatcher 2" })
  })

  test("that was cut off is found by the one that comes after, and not taken as new", async () => {
    const delivery = await taken(leasesOf("1"))
    await leasesOf("1").begin(delivery, agent(), "pane")
    await enqueue("b1")
    const next = leasesOf("2")
    expect(await next.takeCutOff(9)).toEqual([])
    nowMs += LEASE_MS
    expect(keys(await next.take({}, 9))).toEqual(["b1"])
    expect(keys(await next.takeCutOff(9))).toEqual(["a1"])
    expect(next.held.size).toBe(2)
    expect(await kept("a1")).toMatchObject({ leaseOwner: "dispatcher 2", leaseUntilMs: nowMs + LEASE_MS, attempts: 1 })
  })

  test("that a dead one of this name has begun is found at once after the opening; one of another data directory is not", async () => {
    const mine = await taken(leasesOf("1"))
    await leasesOf("1").begin(mine, agent(), "pane")
    await enqueue("b1")
    const away = makeMessageLeases({
      store,
      clock: { nowMs: () => nowMs },
      host: "here",
      ownerPrefix: "x ",
      owner: "x 1",
    })
    const [foreign] = await away.take({}, 1)
    await away.begin(foreign!, agent(), "pane")
    const next = leasesOf("2")
    await next.open()
    expect(keys(await next.takeCutOff(9))).toEqual(["a1"])
  })
})

describe("what is given up", () => {
  test("with nothing done counts no attempt, and can be taken again at once", async () => {
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    await leases.giveBack(delivery, because("agent_busy"))
    expect(leases.held.size).toBe(0)
    expect(await kept("a1")).toMatchObject({
      ...{ state: "queued", attempts: 0, outcome: "the agent is busy", leaseOwner: null, dueAtMs: NOW },
    })
    nowMs -= 1
    expect(await leases.take({}, 1)).toEqual([])
    nowMs += 1
    expect(keys(await leases.take({}, 1))).toEqual(["a1"])
  })

  test("because it did not arrive counts an attempt, and can be taken again at once", async () => {
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    await leases.begin(delivery, agent(), "pane")
    await leases.again(delivery, because("not_arrived"))
    expect(leases.held.size).toBe(0)
    expect(await kept("a1")).toMatchObject({ attempts: 1, outcome: "it had not arrived", attemptStartedAtMs: null })
    expect(keys(await leases.take({}, 1))).toEqual(["a1"])
  })

  test("is settled in one state with its reason, in the journal too", async () => {
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    await leases.settle(delivery, "uncertain", because("nothing_tells"))
    expect(leases.held.size).toBe(0)
    expect(await kept("a1")).toMatchObject({
      state: "uncertain",
      outcome: "there is no evidence of delivery",
      leaseOwner: null,
    })
    const reason = "there is no evidence of delivery"
    expect(await told()).toEqual([["message.uncertain", { id: "a1", team: "a", state: "uncertain", reason }]])
  })

  test("is not renewed any more; what is in hand is", async () => {
    const leases = leasesOf("1")
    const [dropped, held] = [await taken(leases, "a1"), await taken(leases, "b1")]
    leases.drop(dropped)
    expect(leases.held.size).toBe(1)
    nowMs += 1_000
    await leases.renew()
    expect(await kept(dropped.key)).toMatchObject({ leaseUntilMs: NOW + LEASE_MS })
    expect(await kept(held.key)).toMatchObject({ leaseUntilMs: NOW + 1_000 + LEASE_MS })
  })
})

describe("whether it has arrived", () => {
  /** As whoever follows the journal does it. */
  const arrives = (delivery: Delivery) =>
    store.transaction((tx) => tx.deliveries.settle(delivery.seq, "dispatcher 1", "delivered", null, nowMs))

  test("is known at once of what has left the queue, and it is no longer in hand", async () => {
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    await arrives(delivery)
    expect(await leases.isConfirmed(delivery, FOREVER_MS, NEVER)).toBe(true)
    expect(leases.held.size).toBe(0)
  })

  test("is not known after the time that is given, and it stays in hand", async () => {
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    expect(await leases.isConfirmed(delivery, 30, NEVER)).toBe(false)
    expect(leases.held.size).toBe(1)
  })

  test("is not waited for when the program is to end, nor when it was to end before", async () => {
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    const ending = new AbortController()
    const waiting = leases.isConfirmed(delivery, FOREVER_MS, ending.signal)
    ending.abort()
    expect(await waiting).toBe(false)
    expect(await leases.isConfirmed(delivery, FOREVER_MS, ending.signal)).toBe(false)
    expect(leases.held.size).toBe(1)
  })

  test("is looked up from time to time, also after a look that failed", async () => {
    let looks = 0
    const byKey: Store["deliveries"]["byKey"] = (key) =>
      ++looks === 2 ? Promise.reject(new Error("the database is locked")) : store.deliveries.byKey(key)
    const leases = leasesOf("1", { deliveries: { ...store.deliveries, byKey } })
    const delivery = await taken(leases)
    const waiting = leases.isConfirmed(delivery, FOREVER_MS, NEVER)
    await expect.poll(() => looks, { timeout: 60_000 }).toBeGreaterThan(2)
    await arrives(delivery)
    expect(await waiting).toBe(true)
  })

  test("is looked up when its evidence is noticed, without waiting for the time", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] })
    onTestFinished(() => void vi.useRealTimers())
    const leases = leasesOf("1")
    const delivery = await taken(leases)
    const waiting = leases.isConfirmed(delivery, FOREVER_MS, NEVER)
    // The first look is over by then: it finds nothing.
    await sleep(50)
    leases.noticed(delivery.key)
    await arrives(delivery)
    expect(await waiting).toBe(true)
  })

  test("is not looked up for what others are told, or for what is not in hand", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] })
    onTestFinished(() => void vi.useRealTimers())
    let looks = 0
    const byKey: Store["deliveries"]["byKey"] = (key) => {
      looks++
      return store.deliveries.byKey(key)
    }
    const leases = leasesOf("1", { deliveries: { ...store.deliveries, byKey } })
    const delivery = await taken(leases)
    const ending = new AbortController()
    const waiting = leases.isConfirmed(delivery, FOREVER_MS, ending.signal)
    leases.noticed("m-somebody-else")
    await enqueue("z1")
    await sleep(50)
    expect(looks).toBe(1)
    leases.drop(delivery)
    leases.noticed(delivery.key)
    await enqueue("z2")
    await sleep(50)
    expect(looks).toBe(1)
    ending.abort()
    await waiting
  })
})
