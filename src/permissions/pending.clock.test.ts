import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { makeRedactor } from "../capture/redact/redaction.ts"
import type { PermissionRequest } from "../domain/driver.ts"
import { Failure } from "../domain/failure.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makePermits, type Permits } from "./permits.ts"

const SOON = { timeout: 60_000, interval: 20 }
let dir: string
let store: Store
let permits: Permits
let troubles: string[]
/** What the time is, where a test says so. */
let fixedMs: number | undefined
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "pending-clock-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  troubles = []
  fixedMs = undefined
  permits = make()
})
afterEach(async () => {
  permits.close()
  vi.useRealTimers()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
  expect(troubles).toEqual([])
})

const make = (home = "here", values: { store?: Store } = {}) =>
  makePermits({
    store,
    clock: { nowMs: () => fixedMs ?? Date.now() },
    settings: { timeoutMinutes: 30 },
    home,
    redact: makeRedactor(),
    onTrouble: (error, what) => troubles.push(`${what}: ${Failure.from(error).message}`),
    ...values,
  })

const request: PermissionRequest = { tool: "Bash", title: "Bash", input: { command: "ls" }, suggestions: [] }
const context = { asker: "a session", team: "api", sessionId: null }
const ask = (key: string, by = permits, isAsked?: () => Promise<boolean>) =>
  by.ask(request, context, { key, mostMs: 3_600_000, ...(isAsked && { isAsked }) })
const allowed = (id: string) => store.permissions.decide(id, { state: "allowed", by: "Ada", atMs: Date.now() })
const state = (id: string) => async () => (await store.permissions.byId(id))!.state
const decided = async () =>
  (await store.journal.after(0, 100)).flatMap(({ kind, data }) => (kind === "permission.decided" ? [data] : []))
/** Only the clock stands still: what sleeps in between goes on. */
const stopClock = () => vi.useFakeTimers({ toFake: ["performance"] })
/** With a clock that runs a hundred times as fast. */
const quickly = async <T>(work: () => Promise<T>): Promise<T> => {
  stopClock()
  const ticking = setInterval(() => vi.advanceTimersByTime(1_000), 10)
  try {
    return await work()
  } finally {
    clearInterval(ticking)
  }
}

describe("once the daemon runs again for fifteen seconds", () => {
  /** Runs what is due after that time at once. */
  const laterSweep = async (by = permits) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    await by.leaveDead()
    vi.advanceTimersByTime(14_999)
    const early = await store.permissions.waiting()
    vi.advanceTimersByTime(1)
    vi.useRealTimers()
    return early.length
  }

  test("what no hook came again for is stale, and what one waits for is not", async () => {
    const left = await ask("left")
    const waitedFor = await ask("waited for")
    const gone = new AbortController()
    const hook = permits.waitFor(waitedFor.id, gone.signal)
    expect(await laterSweep()).toBe(2)
    await expect.poll(state(left.id), SOON).toBe("stale")
    expect(await store.permissions.byId(left.id)).toMatchObject({
      answeredBy: "throughline",
      reason: "the request was not renewed after the daemon restarted",
    })
    expect(await state(waitedFor.id)()).toBe("waiting")
    permits.close()
    expect(await hook).toEqual({ kind: "again" })
  })

  test("what was allowed and never taken is not, and the journal and the audit say so", async () => {
    const { id } = await ask("k1")
    await allowed(id)
    await laterSweep()
    await expect.poll(state(id), SOON).toBe("stale")
    const reason =
      "not sure to be allowed, the daemon was restarted before the agent confirmed it: look at its terminal"
    expect((await store.permissions.byId(id))!.reason).toBe(reason)
    expect(await decided()).toEqual([{ id, team: "api", tool: "Bash", state: "stale", by: "Ada" }])
    expect(await permits.audit({ limit: 9 })).toMatchObject([
      { who: "throughline", what: "permission.stale", data: { id, asker: "a session", tool: "Bash", reason } },
    ])
  })

  test("what is asked or decided after the restart is left to who decides it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    await permits.leaveDead()
    const [waiting, untaken] = [await ask("k1"), await ask("k2")]
    await allowed(untaken.id)
    vi.advanceTimersByTime(15_000)
    vi.useRealTimers()
    // A second sweep, which knows both, ends after this one.
    await laterSweep(make("there"))
    expect([await state(waiting.id)(), await state(untaken.id)()]).toEqual(["waiting", "allowed"])
  })

  test("what another daemon has is left alone", async () => {
    const there = make("there")
    const [waiting, untaken, ours] = [await ask("k1", there), await ask("k2", there), await ask("k3")]
    await allowed(untaken.id)
    await laterSweep()
    await expect.poll(state(ours.id), SOON).toBe("stale")
    expect([await state(waiting.id)(), await state(untaken.id)()]).toEqual(["waiting", "allowed"])
  })

  test("it is told when what waited cannot be looked at", async () => {
    let looks = 0
    const waiting = () =>
      looks++ === 0 ? store.permissions.waiting() : Promise.reject(new Failure("store_full", "the disk is full"))
    const restarted = make("here", { store: { ...store, permissions: { ...store.permissions, waiting } } })
    await laterSweep(restarted)
    await expect.poll(() => troubles, SOON).toEqual(["a hook that asks no longer: the disk is full"])
    restarted.close()
    troubles = []
  })

  test("nothing is looked at if it was closed before", async () => {
    const { id } = await ask("k1")
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    await permits.leaveDead()
    permits.close()
    expect(vi.getTimerCount()).toBe(0)
    expect(await state(id)()).toBe("waiting")
  })
})

describe("a hook", () => {
  test("is sent to come again after fifty seconds", async () => {
    stopClock()
    const { id } = await ask("k1")
    let isOver = false
    const pending = permits.waitFor(id, new AbortController().signal).finally(() => {
      isOver = true
    })
    vi.advanceTimersByTime(49_999)
    // Something is written, so that it looks once more.
    await ask("k2")
    await permits.release(permits.idOf("k2"), { by: "me", reason: "x" })
    expect(isOver).toBe(false)
    vi.advanceTimersByTime(1)
    expect(await pending).toEqual({ kind: "again" })
    expect(await state(id)()).toBe("waiting")
  })

  test("that comes for something unknown, or for what was let go, is sent away", async () => {
    const signal = new AbortController().signal
    expect(await permits.waitFor("q-none", signal)).toEqual({ kind: "over" })
    const { id } = await ask("k1")
    await permits.release(id, { by: "the terminal", reason: "answered there" })
    expect(await permits.waitFor(id, signal)).toEqual({ kind: "over" })
  })

  test("whose connection is gone is not handed the answer, which stays for the next one", async () => {
    const { id } = await ask("k1")
    await allowed(id)
    expect(await permits.waitFor(id, AbortSignal.abort())).toEqual({ kind: "again" })
    expect(await permits.waitFor(id, new AbortController().signal)).toMatchObject({ answer: { behavior: "allow" } })
    await permits.taken("k1")
    expect(await store.permissions.byId(id)).toMatchObject({ state: "allowed", takenAtMs: expect.any(Number) })
    expect(await decided()).toMatchObject([{ id, state: "allowed", by: "Ada" }])
    await permits.taken("k1")
    await permits.taken("unknown")
    expect(await decided(), "it is told once").toHaveLength(1)
  })

  test("has three seconds to come for a decision, and then the decision is stale", async () => {
    const { id } = await ask("k1")
    expect(await quickly(() => permits.decide(id, { kind: "allow" }, "Ada"))).toMatchObject({
      isFirst: false,
      permission: {
        state: "stale",
        answeredBy: "throughline",
        reason: "nobody is waiting for this any longer: answer at the terminal",
      },
    })
  })

  test("that comes within that time gets the decision", async () => {
    stopClock()
    const { id } = await ask("k1")
    const answer = permits.decide(id, { kind: "allow" }, "Ada")
    for (let look = 0; look < 5; look++) await permits.named(id)
    expect(await permits.waitFor(id, new AbortController().signal)).toMatchObject({ answer: { behavior: "allow" } })
    await permits.taken("k1")
    expect(await answer).toMatchObject({ isFirst: true, permission: { state: "allowed" } })
  })

  test("that has left is not there any more", async () => {
    const { id } = await ask("k1")
    const gone = new AbortController()
    const pending = permits.waitFor(id, gone.signal)
    gone.abort()
    expect(await pending).toEqual({ kind: "again" })
    expect(await quickly(() => permits.decide(id, { kind: "allow" }, "Ada"))).toMatchObject({
      isFirst: false,
      permission: { state: "stale", answeredBy: "throughline" },
    })
  })

  test("that does not confirm a no has not been told it either", async () => {
    const { id } = await ask("k1")
    const pending = permits.waitFor(id, new AbortController().signal)
    expect(await quickly(() => permits.decide(id, { kind: "deny" }, "Ada"))).toMatchObject({
      isFirst: false,
      permission: {
        state: "stale",
        answeredBy: "Ada",
        reason: "too late to be denied, the agent had already gone on: look at its terminal",
      },
    })
    expect(await pending).toMatchObject({ answer: { behavior: "deny" } })
    expect(await decided()).toMatchObject([{ state: "stale" }])
  })

  test("is not allowed another input where its agent would run its own all the same", async () => {
    const { id } = await ask("k1")
    await expect(permits.decide(id, { kind: "allow", updatedInput: { command: "pwd" } }, "Ada")).rejects.toMatchObject({
      code: "bad_input",
      data: { parameter: "updatedInput" },
    })
    expect(await state(id)()).toBe("waiting")
  })

  test("is left to its own dialog at the moment at which its question ends", async () => {
    fixedMs = 1_800_000_000_000
    const { id } = await permits.ask(request, context, { key: "k1", mostMs: 60_000 })
    const pending = permits.waitFor(id, new AbortController().signal)
    fixedMs += 59_999
    // Something is written, so that it looks once more.
    await ask("k2")
    expect(await state(id)()).toBe("waiting")
    fixedMs += 1
    expect(await pending).toEqual({ kind: "over" })
    expect(await store.permissions.byId(id)).toMatchObject({
      state: "timed_out",
      reason: "nobody answered within a minute; its own dialog stays",
    })
  })

  test("each one's answer is told by itself", async () => {
    for (const key of ["k1", "k2"]) {
      const { id } = await ask(key)
      await allowed(id)
      const signal = new AbortController().signal
      expect(await permits.waitFor(id, signal)).toMatchObject({ kind: "answer" })
      await permits.taken(key)
      expect(await permits.waitFor(id, signal), "it is taken once").toEqual({ kind: "over" })
    }
    expect(await decided()).toMatchObject([{ id: permits.idOf("k1") }, { id: permits.idOf("k2") }])
  })

  test("has five seconds to confirm the answer, and then that is stale", async () => {
    stopClock()
    const { id } = await ask("k1")
    const pending = permits.waitFor(id, new AbortController().signal)
    let isSettled = false
    const answer = permits.decide(id, { kind: "allow" }, "Ada").finally(() => {
      isSettled = true
    })
    expect(await pending).toMatchObject({ kind: "answer" })
    vi.advanceTimersByTime(4_999)
    await store.permissions.byId(id)
    expect(isSettled).toBe(false)
    expect(await state(id)()).toBe("allowed")
    vi.advanceTimersByTime(1)
    expect(await answer).toMatchObject({ isFirst: false, permission: { state: "stale", answeredBy: "Ada" } })
    expect(await decided()).toMatchObject([{ state: "stale" }])
  })

  test("two of which wait is there until both have left", async () => {
    stopClock()
    const { id } = await ask("k1")
    const [first, second] = [new AbortController(), new AbortController()]
    const [one, other] = [permits.waitFor(id, first.signal), permits.waitFor(id, second.signal)]
    first.abort()
    expect(await one).toEqual({ kind: "again" })
    const answer = permits.decide(id, { kind: "deny" }, "Ada")
    expect(await other).toMatchObject({ answer: { behavior: "deny" } })
    await permits.taken("k1")
    expect(await answer).toMatchObject({ isFirst: true, permission: { state: "denied" } })
  })

  test("whose agent has gone on by itself gets no answer, and nothing counts as allowed", async () => {
    const { id } = await ask("k1", permits, async () => false)
    const pending = permits.waitFor(id, new AbortController().signal)
    expect(await permits.decide(id, { kind: "allow" }, "Ada")).toMatchObject({
      isFirst: false,
      permission: { state: "stale", reason: "the agent has gone on already" },
    })
    expect(await pending).toEqual({ kind: "over" })
    expect(await decided()).toMatchObject([{ state: "stale" }])
  })

  test("whose agent still asks gets it", async () => {
    const { id } = await ask("k1", permits, async () => true)
    const pending = permits.waitFor(id, new AbortController().signal)
    const answer = permits.decide(id, { kind: "allow" }, "Ada")
    expect(await pending).toMatchObject({ answer: { behavior: "allow" } })
    await permits.taken("k1")
    expect(await answer).toMatchObject({ isFirst: true, permission: { state: "allowed" } })
  })

  test("that waits at another daemon gets what is decided here, though nobody waits here", async () => {
    stopClock()
    const there = make("there")
    const { id } = await ask("k1", there)
    const pending = there.waitFor(id, new AbortController().signal)
    const answer = permits.decide(id, { kind: "allow" }, "Ada")
    expect(await pending).toMatchObject({ answer: { behavior: "allow" } })
    await there.taken("k1")
    expect(await answer).toMatchObject({ isFirst: true, permission: { state: "allowed" } })
    there.close()
  })
})
