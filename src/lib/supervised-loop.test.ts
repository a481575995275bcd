import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, expect, test, vi } from "vitest"
import { type LoopOptions, loopStates, reportElsewhere, superviseLoop } from "./supervised-loop.ts"

let stopping = new AbortController()
let loops: Promise<void>[] = []
afterEach(async () => {
  stopping.abort()
  await Promise.all(loops)
  stopping = new AbortController()
  loops = []
})

const FAST = { firstRetryMs: 1, mostRetryMs: 4 }
const start = (options: Partial<LoopOptions> & Pick<LoopOptions, "round">) => {
  const troubles: string[] = []
  const onTrouble = (error: unknown, what: string) => void troubles.push(`${what}: ${String(error)}`)
  const done = superviseLoop({ name: "test", signal: stopping.signal, onTrouble, everyMs: 1, ...FAST, ...options })
  loops.push(done)
  return { troubles, done }
}
const state = (name = "test") => loopStates().find((loop) => loop.name === name)

test("a round that throws is run again, and the state says so until one succeeds", async () => {
  let failing = true
  let rounds = 0
  const { troubles } = start({
    async round() {
      rounds++
      if (failing) throw new Error("database is away")
    },
  })
  await vi.waitFor(() => expect(rounds).toBeGreaterThan(3))
  expect(state()).toMatchObject({ state: "restarting", error: "database is away", sinceMs: expect.any(Number) })
  failing = false
  await vi.waitFor(() => expect(state()?.state).toBe("running"))
  expect(state()?.restarts).toBeGreaterThan(2)
  expect(state()).not.toHaveProperty("error")
  // Every retry of the same failure would fill the log.
  expect(troubles).toEqual(["test: Error: database is away"])
})

test("a round that throws before its first await, and a log that throws, end nothing", async () => {
  let rounds = 0
  start({
    round() {
      if (rounds++ < 3) throw new Error(`failure ${rounds}`)
    },
    onTrouble() {
      throw new Error("the disk of the log is full")
    },
  })
  await vi.waitFor(() => expect(rounds).toBeGreaterThan(5))
  expect(state()).toMatchObject({ state: "running", restarts: 3 })
})

test("pauses grow up to the limit, with jitter, and begin anew after a success", async () => {
  const startedAtMs: number[] = []
  let failing = true
  start({
    firstRetryMs: 20,
    mostRetryMs: 80,
    round() {
      startedAtMs.push(performance.now())
      if (failing) throw new Error("no")
    },
  })
  await vi.waitFor(() => expect(startedAtMs.length).toBeGreaterThan(5), { timeout: 60_000 })
  const pauses = startedAtMs.slice(1).map((at, index) => at - startedAtMs[index]!)
  for (const [index, most] of [20, 40, 80, 80, 80].entries()) expect(pauses[index]).toBeGreaterThanOrEqual(most / 2 - 2)
  failing = false
  await vi.waitFor(() => expect(state()?.state).toBe("running"))
})

test("whoever asks to be left alone is left alone", async () => {
  const startedAtMs: number[] = []
  start({
    atLeastMs: () => 100,
    round() {
      startedAtMs.push(performance.now())
      throw new Error("429")
    },
  })
  await vi.waitFor(() => expect(startedAtMs).toHaveLength(2), { timeout: 60_000 })
  expect(startedAtMs[1]! - startedAtMs[0]!).toBeGreaterThanOrEqual(95)
})

test("the signal ends it at once, in a long pause, in a long backoff and before it began; it is not listed then", async () => {
  const startedMs = performance.now()
  start({ name: "resting", everyMs: 60_000, round: () => {} })
  start({ name: "failing", firstRetryMs: 60_000, mostRetryMs: 60_000, round: () => Promise.reject(new Error("no")) })
  await vi.waitFor(() => expect(state("failing")?.state).toBe("restarting"))
  expect(state("resting")?.state).toBe("running")
  stopping.abort()
  await Promise.all(loops)
  start({ name: "late", round: () => expect.unreachable() })
  await Promise.all(loops)
  expect(loopStates().filter(({ name }) => ["resting", "failing", "late"].includes(name))).toEqual([])
  expect(performance.now() - startedMs).toBeLessThan(20_000)
})

test("what is cut off by the signal is no failure", async () => {
  const { troubles } = start({ round: (signal) => sleep(60_000, undefined, { signal }) })
  stopping.abort()
  await Promise.all(loops)
  expect(troubles).toEqual([])
})

test("a long round can say that it works again", async () => {
  let rounds = 0
  const held = Promise.withResolvers<void>()
  start({
    async round(_, alive) {
      if (rounds++ === 0) throw new Error("no")
      alive()
      await held.promise
    },
  })
  await vi.waitFor(() => expect(state()).toMatchObject({ state: "running", restarts: 1 }))
  held.resolve()
})

test("a round that does not come back is shown as stalled", async () => {
  const held = Promise.withResolvers<void>()
  start({ stallsAfterMs: 5, round: () => held.promise })
  await vi.waitFor(() => expect(state()?.state).toBe("stalled"))
  held.resolve()
  await vi.waitFor(() => expect(state()?.state).toBe("running"))
})

test("a loop that rests between its rounds is not stalled, however long it rests", async () => {
  let rounds = 0
  start({ stallsAfterMs: 5, everyMs: 60 * 60_000, round: () => void rounds++ })
  await vi.waitFor(() => expect(rounds).toBe(1))
  const halfAnHourLater = loopStates(Date.now() + 30 * 60_000)
  expect(halfAnHourLater.find(({ name }) => name === "test")).toMatchObject({ state: "running" })
})

test("of loops that share a name the worst is shown, and those of other threads are shown too", async () => {
  start({ round: () => {} })
  start({ everyMs: 60_000, round: () => Promise.reject(new Error("only this one")) })
  reportElsewhere("thread", [{ name: "elsewhere", state: "restarting", restarts: 2, sinceMs: 1, error: "over there" }])
  await vi.waitFor(() => expect(state()).toMatchObject({ state: "restarting", error: "only this one" }))
  expect(state("elsewhere")).toMatchObject({ state: "restarting", error: "over there" })
  reportElsewhere("thread", undefined)
  expect(state("elsewhere")).toBeUndefined()
})

test("a round that never waits keeps nobody else from running", async () => {
  let rounds = 0
  start({ everyMs: undefined as never, round: () => void rounds++ })
  await sleep(5)
  expect(rounds).toBeGreaterThan(1)
})
