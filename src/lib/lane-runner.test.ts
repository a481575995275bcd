import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Delivery, NewDelivery } from "../domain/delivery.ts"
import type { Store } from "../domain/store.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeBackoff } from "./backoff.ts"
import { type LaneHandler, type LaneRunner, type LaneRunnerDeps, makeLaneRunner } from "./lane-runner.ts"
import { LEASE_MS, makeLeases } from "./leases.ts"

const CHANNEL = "work"

let dir: string
let store: Store
let aheadMs: number
const troubles: string[] = []
const clock = { nowMs: () => Date.now() + aheadMs }
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "runner-"))
  store = await openStore(sqlite({ path: join(dir, "t.db") }))
  aheadMs = 0
  troubles.length = 0
})
afterEach(async () => {
  for (const one of running.splice(0)) await one.end()
  await store.close()
  rmSync(dir, { recursive: true })
})

interface Running {
  runner: LaneRunner
  backoff: ReturnType<typeof makeBackoff<"shut">>
  leases: ReturnType<typeof makeLeases>
  end(): Promise<void>
}
const running: Running[] = []

interface Given {
  handler?: Partial<LaneHandler>
  leases?: Running["leases"]
}

/** A runner whose handler does `work` with each delivery, and settles it when that is over. */
function start(
  work: (delivery: Delivery, signal: AbortSignal) => Promise<unknown>,
  { handler, leases: given, ...over }: Partial<Omit<LaneRunnerDeps, "handler" | "leases">> & Given = {},
): Running {
  const leases = given ?? makeLeases({ store, clock, host: "here", channel: CHANNEL, ownerPrefix: "runner " })
  const backoff = makeBackoff({ shut: { firstMs: 20, mostMs: 60_000 } })
  const runner = makeLaneRunner({
    name: "test queue",
    clock,
    leases,
    backoff,
    most: 10,
    onTrouble: (error, what) => void troubles.push(`${what}: ${error instanceof Error ? error.message : error}`),
    ...over,
    handler: {
      take: (delivery) =>
        runner.start(delivery, async (signal) => {
          await work(delivery, signal)
          await leases.settle(delivery, "done", null)
        }),
      failed({ lane, key }, error) {
        backoff.pause(lane, "shut", clock.nowMs())
        troubles.push(`${key}: ${(error as Error).message}`)
      },
      ...handler,
    },
  })
  const ending = new AbortController()
  const done = runner.run(ending.signal)
  const one: Running = {
    runner,
    backoff,
    leases,
    async end() {
      ending.abort()
      await done
    },
  }
  running.push(one)
  return one
}

async function enqueue(key: string, more: Partial<NewDelivery> = {}): Promise<void> {
  const delivery = { key, lane: key.slice(0, 1), channel: CHANNEL, payload: {}, repeatable: false, maxAttempts: 1_000 }
  await store.deliveries.enqueue({ ...delivery, ...more }, clock.nowMs())
}
const row = async (key: string) => (await store.deliveries.byKey(key))!
const isDone = async (...keys: string[]) => (await Promise.all(keys.map(row))).every(({ state }) => state === "done")
/** Work that is over when the test says so. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

describe("lanes", () => {
  test("are served in order, and side by side", async () => {
    for (const key of ["a1", "a2", "b1"]) await enqueue(key)
    const [a, begun] = [gate(), [] as string[]]
    const { end } = start(async ({ key }) => {
      begun.push(key)
      if (key === "a1") await a.passed
    })
    await expect.poll(() => isDone("b1")).toBe(true)
    expect(begun).toEqual(["a1", "b1"])
    a.open()
    await expect.poll(() => isDone("a1", "a2")).toBe(true)
    expect(begun).toEqual(["a1", "b1", "a2"])
    await end()
  })

  test("go on at once when one is done, not at the next poll", async () => {
    const keys = Array.from({ length: 6 }, (_, at) => `a${at}`)
    for (const key of keys) await enqueue(key)
    const beganAtMs = Date.now()
    start(async () => {})
    await expect.poll(() => isDone(...keys), { interval: 20 }).toBe(true)
    expect(Date.now() - beganAtMs).toBeLessThan(8_000)
  })

  test("no more of them than allowed are in hand", async () => {
    for (const key of ["a1", "b1", "c1"]) await enqueue(key)
    const [held, begun] = [gate(), [] as string[]]
    start(
      async ({ key }) => {
        begun.push(key)
        await held.passed
      },
      { most: 2 },
    )
    await expect.poll(() => begun).toEqual(["a1", "b1"])
    await sleep(100)
    expect((await row("c1")).leaseOwner).toBeNull()
    held.open()
    await expect.poll(() => isDone("a1", "b1", "c1")).toBe(true)
  })

  test("count as in hand while work goes on for them, also once it is settled", async () => {
    for (const key of ["a1", "b1"]) await enqueue(key)
    const [held, begun] = [gate(), [] as string[]]
    const { leases, runner } = start(
      async (delivery) => {
        begun.push(delivery.key)
        await leases.settle(delivery, "done", null)
        await held.passed
      },
      { most: 1 },
    )
    await expect.poll(() => isDone("a1")).toBe(true)
    runner.ring()
    await sleep(100)
    expect(begun).toEqual(["a1"])
    held.open()
    await expect.poll(() => isDone("b1")).toBe(true)
  })

  test("that are paused do not hold up the others, and are tried when their time comes, not at the next poll", async () => {
    for (const key of ["a1", "b1"]) await enqueue(key)
    const tries: number[] = []
    const { leases, backoff } = start(async (delivery) => {
      if (delivery.lane !== "a") return
      tries.push(Date.now())
      if (tries.length > 3) return
      backoff.pause("a", "shut", clock.nowMs())
      await leases.giveBack(delivery, "not now")
    })
    await expect.poll(() => isDone("b1")).toBe(true)
    await expect.poll(() => tries.length, { interval: 5 }).toBe(4)
    const pauses = tries.slice(1).map((atMs, at) => atMs - tries[at]!)
    expect(pauses.every((ms, at) => ms >= 20 * 2 ** at - 2)).toBe(true)
    expect(tries.at(-1)! - tries[0]!).toBeLessThan(2_000)
    expect((await row("a1")).attempts).toBe(1)
  })

  test("whose pause ends while others are being leased are not left to the next poll", async () => {
    await enqueue("a1")
    const slow = makeLeases({ store, clock, host: "here", channel: CHANNEL, ownerPrefix: "runner " })
    const take: typeof slow.take = async (...options) => {
      await sleep(60)
      return slow.take(...options)
    }
    const beganAtMs = Date.now()
    start(async () => {}, { leases: { ...slow, take } }).backoff.pauseFor("a", 30, clock.nowMs())
    await expect.poll(() => isDone("a1"), { interval: 10 }).toBe(true)
    expect(Date.now() - beganAtMs).toBeLessThan(1_500)
  })

  test("that the handler wants left alone are not taken", async () => {
    for (const key of ["a1", "b1"]) await enqueue(key)
    const alone = new Set(["a"])
    const { runner } = start(async () => {}, { handler: { except: () => alone } })
    await expect.poll(() => isDone("b1")).toBe(true)
    expect((await row("a1")).state).toBe("queued")
    alone.clear()
    runner.ring()
    await expect.poll(() => isDone("a1")).toBe(true)
  })
})

describe("a wake-up", () => {
  test("is heard at once, also one that came before the run", async () => {
    const looks: number[] = []
    const wakes = new Set<() => void>()
    const onWake = (listener: () => void) => {
      wakes.add(listener)
      return () => void wakes.delete(listener)
    }
    const plan = async () => {
      looks.push(Date.now())
      return Number.POSITIVE_INFINITY
    }
    const { runner, end } = start(async () => {}, { onWake, handler: { plan } })
    await expect.poll(() => looks.length).toBe(1)
    runner.ring()
    await expect.poll(() => looks.length, { interval: 5 }).toBe(2)
    for (const wake of wakes) wake()
    await expect.poll(() => looks.length, { interval: 5 }).toBe(3)
    expect(looks[2]! - looks[0]!).toBeLessThan(1_500)
    await end()
    expect(wakes.size).toBe(0)
  })

  test("is made by the handler's own plan", async () => {
    const looks: number[] = []
    start(async () => {}, { handler: { plan: async () => looks.push(clock.nowMs()) && clock.nowMs() + 30 } })
    await expect.poll(() => looks.length, { interval: 5 }).toBeGreaterThan(4)
    expect(looks[4]! - looks[0]!).toBeGreaterThanOrEqual(4 * 25)
    expect(looks[4]! - looks[0]!).toBeLessThan(2_000)
  })
})

describe("a lease", () => {
  test("is renewed while it is held, and not after that", async () => {
    await enqueue("a1")
    const held = gate()
    const { leases } = start(() => held.passed)
    await expect.poll(async () => (await row("a1")).leaseUntilMs).not.toBeNull()
    const untilMs = (await row("a1")).leaseUntilMs!
    aheadMs += 5_000
    await leases.renew()
    expect((await row("a1")).leaseUntilMs).toBeGreaterThanOrEqual(untilMs + 5_000)
    leases.drop((await row("a1")) as Delivery)
    aheadMs += 5_000
    const before = (await row("a1")).leaseUntilMs
    await leases.renew()
    expect((await row("a1")).leaseUntilMs).toBe(before)
    held.open()
  })

  test("is renewed in time, and first of all when the machine has slept through it", async () => {
    await enqueue("a1")
    const [held, begun] = [gate(), [] as string[]]
    const { runner } = start(async ({ key }) => {
      begun.push(key)
      await held.passed
    })
    await expect.poll(() => begun).toEqual(["a1"])
    for (const ms of [LEASE_MS / 3, 10 * LEASE_MS]) {
      aheadMs += ms
      runner.ring()
      const soonMs = clock.nowMs() + LEASE_MS - 1_000
      await expect.poll(async () => (await row("a1")).leaseUntilMs).toBeGreaterThan(soonMs)
    }
    expect(begun).toEqual(["a1"])
    expect((await row("a1")).attempts).toBe(1)
    held.open()
  })

  test("of work that failed stays until it runs out; then the attempt is recovered, and never begun again blindly", async () => {
    await enqueue("a1")
    const [taken, recovered] = [[] as string[], [] as string[]]
    const { leases } = start(
      async (delivery) => {
        taken.push(delivery.key)
        await leases.begin(delivery)
        throw new Error("the act failed")
      },
      {
        sweepMs: 0,
        handler: {
          async recover(delivery) {
            recovered.push(delivery.key)
            await leases.settle(delivery, "uncertain", null)
          },
        },
      },
    )
    await expect.poll(() => troubles).toEqual(["a1: the act failed"])
    expect(leases.held.size).toBe(0)
    expect(await row("a1")).toMatchObject({ state: "queued", leaseOwner: leases.owner })
    aheadMs += LEASE_MS
    await expect.poll(async () => (await row("a1")).state).toBe("uncertain")
    expect([taken, recovered]).toEqual([["a1"], ["a1"]])
  })

  test("of a dead process ends when the next one opens", async () => {
    for (const key of ["a1", "b1"]) await enqueue(key)
    const dead = makeLeases({ store, clock, host: "here", channel: CHANNEL, ownerPrefix: "runner " })
    const [first] = await dead.take({}, 9)
    await dead.begin(first!)
    const [taken, recovered] = [[] as string[], [] as string[]]
    const { leases } = start(async ({ key }) => taken.push(key), {
      handler: {
        async recover(delivery) {
          recovered.push(delivery.key)
          await leases.settle(delivery, "done", null)
        },
      },
    })
    await expect.poll(() => isDone("a1", "b1")).toBe(true)
    expect([taken, recovered]).toEqual([["b1"], ["a1"]])
  })
})

test("a sweep comes now and then, and before what was cut off is recovered", async () => {
  await enqueue("a1")
  const dead = makeLeases({ store, clock, host: "here", channel: CHANNEL, ownerPrefix: "runner " })
  const [first] = await dead.take({}, 1)
  await dead.begin(first!)
  const order: string[] = []
  const { leases, runner } = start(async () => {}, {
    handler: {
      sweep: async () => void order.push("sweep"),
      async recover(delivery) {
        order.push("recover")
        await leases.settle(delivery, "done", null)
      },
    },
  })
  await expect.poll(() => isDone("a1")).toBe(true)
  expect(order).toEqual(["sweep", "recover"])
  runner.ring()
  await sleep(100)
  expect(order).toHaveLength(2)
  aheadMs += 5_000
  runner.ring()
  await expect.poll(() => order).toEqual(["sweep", "recover", "sweep"])
})

describe("trouble", () => {
  test("in a handler's answer to a failure is told, and the runner goes on", async () => {
    for (const key of ["a1", "b1"]) await enqueue(key)
    start(
      async ({ key }) => {
        if (key === "a1") throw new Error("once")
      },
      {
        handler: {
          failed: () => {
            throw new Error("twice")
          },
        },
      },
    )
    await expect.poll(() => isDone("b1")).toBe(true)
    expect(troubles).toEqual(["a1: twice"])
  })

  test("at the opening is tried again before anything is taken", async () => {
    await enqueue("a1")
    const order: string[] = []
    start(async () => order.push("work"), {
      handler: {
        async open() {
          order.push("open")
          if (order.length === 1) throw new Error("locked")
        },
      },
    })
    await expect.poll(() => isDone("a1")).toBe(true)
    expect(order).toEqual(["open", "open", "work"])
  })
})

describe("at the end", () => {
  test("nothing more is taken, the handler closes, and then what is under way is waited for", async () => {
    for (const key of ["a1", "a2"]) await enqueue(key)
    const [held, order] = [gate(), [] as string[]]
    const { end } = start(
      async () => {
        order.push("begun")
        await held.passed
        order.push("over")
      },
      { handler: { close: async () => void order.push("close") } },
    )
    await expect.poll(() => order).toEqual(["begun"])
    const ended = end().then(() => order.push("ended"))
    await expect.poll(() => order).toEqual(["begun", "close"])
    held.open()
    await ended
    expect(order).toEqual(["begun", "close", "over", "ended"])
    expect(await isDone("a1")).toBe(true)
    expect((await row("a2")).state).toBe("queued")
  })

  test("a runner with nothing to do does not wait for its next poll", async () => {
    const looked = gate()
    const plan = async () => {
      looked.open()
      return Number.POSITIVE_INFINITY
    }
    const { end } = start(async () => {}, { handler: { plan } })
    await looked.passed
    await sleep(20)
    const beganAtMs = Date.now()
    await end()
    expect(Date.now() - beganAtMs).toBeLessThan(1_500)
  })

  test("what takes too long is left to the next process", async () => {
    await enqueue("a1")
    const held = gate()
    const { end, leases } = start(() => held.passed, { endMs: 20 })
    await expect.poll(() => leases.held.size).toBe(1)
    await end()
    expect(await row("a1")).toMatchObject({ state: "queued", leaseOwner: leases.owner })
    held.open()
    await expect.poll(() => isDone("a1")).toBe(true)
  })

  test("work is told of the signal", async () => {
    await enqueue("a1")
    const signals: AbortSignal[] = []
    const { end } = start(async (_, signal) => {
      signals.push(signal)
      await sleep(60_000, undefined, { signal }).catch(() => {})
    })
    await expect.poll(() => signals.length).toBe(1)
    await end()
    expect(signals[0]!.aborted).toBe(true)
  })
})

type Act = "do" | "put off" | "fail before" | "fail after" | "die before" | "die after" | "wait"
const act = fc.constantFrom<Act>("do", "put off", "fail before", "fail after", "die before", "die after", "wait")
const story = fc.record({
  /** Which lane each delivery is for, in the order of their arrival. */
  lanes: fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 14 }),
  /** What becomes of each look at a delivery, one after the other; later ones are done. */
  acts: fc.array(act, { maxLength: 14 }),
  most: fc.integer({ min: 1, max: 4 }),
})

test("every delivery is done once, lanes in order and never two of a lane at once, whatever fails or dies in between", async () => {
  const property = fc.asyncProperty(story, async ({ lanes, acts, most }) => {
    const folder = mkdtempSync(join(tmpdir(), "lanes-"))
    const mine = await openStore(sqlite({ path: join(folder, "t.db"), onKeptAside: () => {} }))
    let skippedMs = 0
    const time = { nowMs: () => Date.now() + skippedMs }
    const left = [...acts]
    const doneInOrder: string[] = []
    const busy = new Set<string>()
    const atOnce: string[] = []
    const expected = lanes.map((lane, at) => `${lane}${at}`)

    /** A process: what it does after its death reaches nobody. */
    const live = () => {
      let isDead = false
      const ending = new AbortController()
      const own: Store["transaction"] = (work, options) =>
        isDead ? Promise.reject(new Error("dead")) : mine.transaction(work, options)
      const deliveries = new Proxy(mine.deliveries, {
        get: (target, name) => {
          if (isDead) throw new Error("dead")
          return target[name as keyof typeof target]
        },
      })
      const place = { clock: time, host: "here", channel: CHANNEL, ownerPrefix: "runner " }
      const leases = makeLeases({ store: { transaction: own, deliveries }, ...place })
      const backoff = makeBackoff({ shut: { firstMs: 1, mostMs: 4 } })
      const die = () => {
        isDead = true
        busy.clear()
        ending.abort()
      }
      const work = async (delivery: Delivery) => {
        const { key, lane } = delivery
        if (isDead) return
        if (busy.has(lane)) atOnce.push(key)
        busy.add(lane)
        const is = left.shift() ?? "do"
        if (is === "wait") await sleep(3)
        if (is === "put off") {
          backoff.pause(lane, "shut", time.nowMs())
          busy.delete(lane)
          return leases.giveBack(delivery, "not now")
        }
        if (!(await leases.begin(delivery))) return void busy.delete(lane)
        if (isDead) return
        if (is === "die before") return die()
        if (is !== "fail before") doneInOrder.push(key)
        if (is === "die after") return die()
        busy.delete(lane)
        if (is.startsWith("fail")) throw new Error(is)
        await leases.settle(delivery, "done", null)
      }
      const runner = makeLaneRunner({
        name: "story queue",
        ...{ clock: time, leases, backoff, most, sweepMs: 0, onTrouble: () => {} },
        handler: {
          take: (delivery) => runner.start(delivery, () => work(delivery)),
          // The evidence says whether it was done.
          recover: (delivery) =>
            runner.start(delivery, () =>
              doneInOrder.includes(delivery.key)
                ? leases.settle(delivery, "done", "by evidence")
                : leases.retry(delivery, "it had not arrived"),
            ),
          failed: ({ lane }) => backoff.pause(lane, "shut", time.nowMs()),
        },
      })
      const over = runner.run(ending.signal)
      const end = () => {
        ending.abort()
        return over
      }
      return { runner, leases, isDead: () => isDead, end }
    }

    let process = live()
    try {
      for (const [at, key] of expected.entries()) {
        const delivery = { key, lane: lanes[at]!, channel: CHANNEL, payload: {}, repeatable: false, maxAttempts: 1_000 }
        await mine.deliveries.enqueue(delivery, time.nowMs())
        process.runner.ring()
      }
      const untilMs = Date.now() + 60_000
      while ((await mine.deliveries.ofChannel(CHANNEL, ["queued"])).length > 0) {
        if (Date.now() > untilMs) throw new Error(`not done: ${doneInOrder.join(" ")} of ${expected.join(" ")}`)
        if (process.isDead()) {
          await process.end()
          process = live()
        }
        // Leases of failed work run out; those of work that goes on do not.
        if (!process.isDead()) await process.leases.renew().catch(() => {})
        skippedMs += 2_000
        process.runner.ring()
        await sleep(5)
      }
      expect(atOnce).toEqual([])
      expect(doneInOrder.toSorted()).toEqual(expected.toSorted())
      for (const lane of "abcd")
        expect(doneInOrder.filter((key) => key.startsWith(lane))).toEqual(
          expected.filter((key) => key.startsWith(lane)),
        )
    } finally {
      await process.end()
      await mine.close()
      rmSync(folder, { recursive: true })
    }
  })
  await fc.assert(property, { numRuns: 40, endOnFailure: true })
}, 240_000)
