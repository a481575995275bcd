import { expect, test } from "vitest"
import type { Delivery } from "../../../src/domain/delivery.ts"
import type { Store } from "../../../src/domain/store.ts"
import { enqueue, LEASE_MS, leasedKeys, leaseFor, leaseOne, NOW, newDelivery, range } from "./examples.ts"

const EXPIRED = NOW + LEASE_MS

export function leasesContract(store: () => Store): void {
  const byKey = async (key: string) => (await store().deliveries.byKey(key))!

  test("a lease that ran out comes back, also to another owner", async () => {
    await enqueue(store(), "a1", "a2")
    await leaseOne(store(), "me")
    expect(await leasedKeys(store(), "you", EXPIRED - 1)).toEqual([])
    expect(await leasedKeys(store(), "you", EXPIRED)).toEqual(["a1"])
    expect(await byKey("a1")).toMatchObject({ leaseOwner: "you", attempts: 2, leaseUntilMs: EXPIRED + LEASE_MS })
  })

  test("a renewed lease lasts longer", async () => {
    await enqueue(store(), "a1")
    const seq = await leaseOne(store(), "me")
    expect(await store().deliveries.renew(seq, "me", LEASE_MS, NOW + 500)).toBe(true)
    expect(await leasedKeys(store(), "you", EXPIRED + 499)).toEqual([])
    expect(await leasedKeys(store(), "you", EXPIRED + 500)).toEqual(["a1"])
  })

  test("only the holder of the lease may say how it went", async () => {
    await enqueue(store(), "a1")
    const seq = await leaseOne(store(), "me")
    const before = await byKey("a1")
    const refused = async (owner: string) => {
      expect(await store().deliveries.startAttempt(seq, owner, NOW)).toBe(false)
      expect(await store().deliveries.renew(seq, owner, LEASE_MS, NOW)).toBe(false)
      expect(await store().deliveries.settle(seq, owner, "done", null, NOW)).toBe(false)
      expect(await store().deliveries.retry(seq, owner, NOW, "again")).toBe(false)
    }
    await refused("you")
    expect(await byKey("a1")).toEqual(before)

    expect(await leasedKeys(store(), "you", EXPIRED)).toEqual(["a1"])
    await refused("me")
    expect(await store().deliveries.startAttempt(seq, "you", EXPIRED + 1)).toBe(true)
    expect(await byKey("a1")).toMatchObject({ leaseOwner: "you", state: "queued", attemptStartedAtMs: EXPIRED + 1 })
  })

  test("without attempts left it fails and frees its lane", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { maxAttempts: 2 }), NOW)
    await enqueue(store(), "a2")
    expect(await leasedKeys(store(), "me", NOW)).toEqual(["a1"])
    expect(await leasedKeys(store(), "me", EXPIRED)).toEqual(["a1"])
    const end = EXPIRED + LEASE_MS
    expect(await leasedKeys(store(), "me", end)).toEqual(["a2"])
    expect(await byKey("a1")).toMatchObject({ state: "failed", attempts: 2, settledAtMs: end, leaseOwner: null })
    expect((await byKey("a1")).outcome).toEqual(expect.any(String))
  })

  test("a failure keeps the reason of the last retry", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { maxAttempts: 1 }), NOW)
    await store().deliveries.retry(await leaseOne(store(), "me"), "me", NOW + 1, "the door was shut")
    expect(await leasedKeys(store(), "me", NOW + 1)).toEqual([])
    expect(await byKey("a1")).toMatchObject({ state: "failed", outcome: "the door was shut" })
  })

  test("an unrepeatable one whose attempt was cut off blocks its lane until it is settled by evidence", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { repeatable: false, expiresAtMs: NOW + 10 }), NOW)
    await enqueue(store(), "a2")
    const seq = await leaseOne(store(), "me")
    expect(await store().deliveries.startAttempt(seq, "me", NOW + 1)).toBe(true)
    expect(await store().deliveries.cutOff(leaseFor("you"), EXPIRED - 1)).toEqual([])
    expect(await leasedKeys(store(), "you", EXPIRED)).toEqual([])
    const [cut] = await store().deliveries.cutOff(leaseFor("you"), EXPIRED)
    expect(cut).toMatchObject({ key: "a1", attempts: 1, attemptStartedAtMs: NOW + 1, leaseOwner: "you" })
    expect(cut!.leaseUntilMs).toBe(EXPIRED + LEASE_MS)
    expect(await store().deliveries.settle(seq, "me", "done", null, EXPIRED)).toBe(false)
    expect(await store().deliveries.settle(seq, "you", "uncertain", "nobody knows", EXPIRED + 1)).toBe(true)
    expect(await byKey("a1")).toMatchObject({ state: "uncertain", outcome: "nobody knows", attempts: 1 })
    expect(await leasedKeys(store(), "you", EXPIRED + 1)).toEqual(["a2"])
  })

  test("one that was cut off and did not arrive is given back, and tried again", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { repeatable: false }), NOW)
    const seq = await leaseOne(store(), "me")
    await store().deliveries.startAttempt(seq, "me", NOW)
    await store().deliveries.cutOff(leaseFor("you"), EXPIRED)
    expect(await store().deliveries.retry(seq, "you", EXPIRED, "it did not arrive")).toBe(true)
    expect(await leasedKeys(store(), "you", EXPIRED)).toEqual(["a1"])
  })

  test("what is cut off is found for its own channel and host only", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { repeatable: false, host: "there" }), NOW)
    const [one] = await store().deliveries.lease(leaseFor("me", { host: "there" }), NOW)
    await store().deliveries.startAttempt(one!.seq, "me", NOW)
    expect(await store().deliveries.cutOff(leaseFor("you"), EXPIRED)).toEqual([])
    expect(await store().deliveries.cutOff(leaseFor("you", { host: "there", channels: ["other"] }), EXPIRED)).toEqual(
      [],
    )
    expect(await store().deliveries.cutOff(leaseFor("you", { host: "there" }), EXPIRED)).toHaveLength(1)
  })

  test("no more of what is cut off is taken than was asked for", async () => {
    for (const key of ["a1", "b1"]) await store().deliveries.enqueue(newDelivery(key, { repeatable: false }), NOW)
    for (const { seq } of await store().deliveries.lease(leaseFor("me", { limit: 9 }), NOW))
      await store().deliveries.startAttempt(seq, "me", NOW)
    const cutOff = async () =>
      (await store().deliveries.cutOff(leaseFor("you", { limit: 1 }), EXPIRED)).map(({ key }) => key)
    expect([await cutOff(), await cutOff(), await cutOff()]).toEqual([["a1"], ["b1"], []])
  })

  test("an attempt that was spared does not count", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { maxAttempts: 1 }), NOW)
    for (const _ of range(3)) {
      const seq = await leaseOne(store(), "me")
      await store().deliveries.retry(seq, "me", NOW, "it is busy", { countAttempt: false })
    }
    expect(await byKey("a1")).toMatchObject({ state: "queued", attempts: 0, outcome: "it is busy" })
  })

  test("the leases of those who held them under the same name before end at once, others last", async () => {
    await enqueue(store(), "a1", "b1", "c1")
    await store().deliveries.lease(leaseFor("host/home#1", { limit: 1 }), NOW)
    await store().deliveries.lease(leaseFor("host/home#2", { limit: 1 }), NOW)
    await store().deliveries.lease(leaseFor("host/other#1", { limit: 1 }), NOW)
    await store().deliveries.endLeases("host/home#", "host/home#2", NOW + 1)
    expect(await leasedKeys(store(), "host/home#2", NOW + 1)).toEqual(["a1"])
  })

  test("what a dispatcher had only taken when it died was not tried, however often that happens", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { maxAttempts: 2 }), NOW)
    for (const life of range(5)) {
      await store().deliveries.endLeases("host/home#", `host/home#${life}`, NOW + life)
      expect(await leasedKeys(store(), `host/home#${life}`, NOW + life)).toEqual(["a1"])
    }
    expect((await store().deliveries.byKey("a1"))?.attempts).toBe(1)
  })

  test("an unrepeatable one whose attempt never began comes back", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { repeatable: false }), NOW)
    await leaseOne(store(), "me")
    expect(await leasedKeys(store(), "you", EXPIRED)).toEqual(["a1"])
  })

  test("an unrepeatable one that was given back by its owner is tried again", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { repeatable: false }), NOW)
    const seq = await leaseOne(store(), "me")
    await store().deliveries.startAttempt(seq, "me", NOW)
    await store().deliveries.retry(seq, "me", NOW + 1, "it was refused")
    expect(await leasedKeys(store(), "you", EXPIRED)).toEqual(["a1"])
    expect((await byKey("a1")).attemptStartedAtMs).toBeNull()
  })

  test("a repeatable one whose attempt was cut off comes back", async () => {
    await enqueue(store(), "a1")
    await store().deliveries.startAttempt(await leaseOne(store(), "me"), "me", NOW)
    expect(await leasedKeys(store(), "you", EXPIRED)).toEqual(["a1"])
    expect((await byKey("a1")).attemptStartedAtMs).toBeNull()
  })

  test("one whose time ran out expires and frees its lane, but not while somebody is at it", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { expiresAtMs: NOW + 10 }), NOW)
    await store().deliveries.enqueue(newDelivery("b1", { expiresAtMs: NOW + 10 }), NOW)
    await enqueue(store(), "a2", "b2")
    expect(await leasedKeys(store(), "me", NOW + 9, { limit: 1 })).toEqual(["a1"])
    expect(await leasedKeys(store(), "me", NOW + 10)).toEqual(["b2"])
    expect(await byKey("b1")).toMatchObject({ state: "expired", settledAtMs: NOW + 10, attempts: 0 })
    expect((await byKey("a1")).state).toBe("queued")
    expect(await leasedKeys(store(), "me", NOW + 9 + LEASE_MS)).toEqual(["a2"])
    expect((await byKey("a1")).state).toBe("expired")
  })

  test("one of another channel is left to expire to who serves that, and says so", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { channel: "other", expiresAtMs: NOW + 10 }), NOW)
    await enqueue(store(), "b1")
    expect(await leasedKeys(store(), "me", NOW + 10)).toEqual(["b1"])
    expect((await byKey("a1")).state).toBe("queued")
    expect((await store().deliveries.expire("other", NOW + 10)).map(({ key }) => key)).toEqual(["a1"])
  })

  test("owners that lease at the same time never get the same delivery", async () => {
    await Promise.all(
      range(60).map((index) => store().deliveries.enqueue(newDelivery(`${index}`, { lane: `${index}` }), NOW)),
    )
    const leased: Delivery[] = []
    for (let round = 0; leased.length < 60 && round < 60; round++) {
      const owners = range(12).map((index) => store().deliveries.lease(leaseFor(`owner ${index}`, { limit: 2 }), NOW))
      leased.push(...(await Promise.all(owners)).flat())
    }
    expect(leased.map((delivery) => delivery.seq).toSorted((a, b) => a - b)).toHaveLength(60)
    expect(new Set(leased.map((delivery) => delivery.key)).size).toBe(60)
    for (const { key, leaseOwner } of leased) expect(await byKey(key)).toMatchObject({ leaseOwner, attempts: 1 })
  })

  test("workers at the same time serve each lane in order and never twice at once", async () => {
    const lanes = range(5).map(String)
    for (const index of range(8)) {
      for (const lane of lanes) await store().deliveries.enqueue(newDelivery(`${lane}.${index}`, { lane }), NOW)
    }
    const busy = new Set<string>()
    const served: Record<string, string[]> = Object.fromEntries(lanes.map((lane) => [lane, []]))
    let left = 40
    const work = async (worker: number) => {
      while (left > 0) {
        for (const { seq, key, lane } of await store().deliveries.lease(
          leaseFor(`worker ${worker}`, { limit: 2 }),
          NOW,
        )) {
          expect(busy.has(lane)).toBe(false)
          busy.add(lane)
          served[lane]!.push(key)
          await store().deliveries.startAttempt(seq, `worker ${worker}`, NOW)
          busy.delete(lane)
          expect(await store().deliveries.settle(seq, `worker ${worker}`, "done", null, NOW)).toBe(true)
          left--
        }
      }
    }
    await Promise.all(range(6).map(work))
    for (const lane of lanes) expect(served[lane]).toEqual(range(8).map((index) => `${lane}.${index}`))
  })
}
