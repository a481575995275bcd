import { expect, test } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import { enqueue, LEASE_MS, leasedKeys, leaseFor, leaseOne, NOW, newDelivery, range } from "./examples.ts"

export function deliveriesContract(store: () => Store): void {
  const pending = async (lane: string) => (await store().deliveries.pending(lane)).map((delivery) => delivery.key)

  test("a delivery comes back whole, with the defaults filled in", async () => {
    const payload = { text: 'say "hi"', list: [1, null] }
    expect(await store().deliveries.enqueue(newDelivery("a1", { payload }), NOW)).toBe(true)
    expect(await store().deliveries.byKey("a1")).toEqual({
      seq: expect.any(Number),
      key: "a1",
      lane: "a",
      channel: "mail",
      payload,
      state: "queued",
      repeatable: true,
      host: null,
      attempts: 0,
      maxAttempts: 5,
      dueAtMs: NOW,
      expiresAtMs: null,
      leaseOwner: null,
      leaseUntilMs: null,
      attemptStartedAtMs: null,
      outcome: null,
      fingerprint: null,
      sessionId: null,
      route: null,
      fetchKey: null,
      createdAtMs: NOW,
      settledAtMs: null,
    })
    expect(await store().deliveries.byKey("a2")).toBeUndefined()
  })

  test("what the sender chose is kept", async () => {
    const chosen = { repeatable: false, host: "there", maxAttempts: 2, dueAtMs: NOW + 5, expiresAtMs: NOW + 9 }
    await store().deliveries.enqueue(newDelivery("a1", chosen), NOW)
    expect(await store().deliveries.byKey("a1")).toMatchObject(chosen)
  })

  test("a second delivery under a key is not made, and the first one stands", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { payload: { is: "first" } }), NOW)
    const again = newDelivery("a1", { lane: "b", payload: { is: "second" } })
    expect(await store().deliveries.enqueue(again, NOW + 1)).toBe(false)
    expect(await store().deliveries.byKey("a1")).toMatchObject({
      lane: "a",
      payload: { is: "first" },
      createdAtMs: NOW,
    })
    expect(await pending("b")).toEqual([])
    const parallel = await Promise.all(range(10).map(() => store().deliveries.enqueue(newDelivery("c1"), NOW)))
    expect(parallel.filter(Boolean)).toHaveLength(1)
  })

  test("a settled delivery still holds its key", async () => {
    await enqueue(store(), "a1")
    const seq = await leaseOne(store(), "me")
    await store().deliveries.settle(seq, "me", "done", null, NOW)
    expect(await store().deliveries.enqueue(newDelivery("a1"), NOW + 1)).toBe(false)
    expect(await leasedKeys(store(), "me")).toEqual([])
  })

  test("what is over is dropped by its age, the oldest first, and only what nobody may ask for again", async () => {
    const put = async (key: string, channel: string, state: "done" | "failed" | "delivered" | "queued", atMs = NOW) => {
      await store().deliveries.enqueue(newDelivery(key, { channel }), NOW - 9)
      const { seq } = (await store().deliveries.byKey(key))!
      if (state !== "queued") await store().deliveries.move(seq, ["queued"], state, null, atMs)
    }
    await put("a1", "telegram", "done", NOW + 1)
    await put("b1", "telegram-in", "failed")
    await put("c1", "agent", "done", NOW + 2)
    await put("d1", "notice", "delivered", NOW + 3)
    const stay = {
      e1: ["agent", "failed"],
      f1: ["agent", "delivered"],
      g1: ["pair", "done"],
      h1: ["mail", "queued"],
    } as const
    for (const [key, [channel, state]] of Object.entries(stay)) await put(key, channel, state)
    await put("i1", "telegram", "done", NOW + 10)
    const left = async () => {
      const keys = ["a1", "b1", "c1", "d1", ...Object.keys(stay), "i1"]
      const found = await Promise.all(keys.map((key) => store().deliveries.byKey(key)))
      return found.flatMap((one) => one?.key ?? [])
    }
    expect(await store().deliveries.drop({ beforeMs: NOW + 10, limit: 2 })).toBe(2)
    expect(await left()).toEqual(["c1", "d1", ...Object.keys(stay), "i1"])
    expect(await store().deliveries.drop({ beforeMs: NOW + 10, limit: 99 })).toBe(2)
    expect(await left()).toEqual([...Object.keys(stay), "i1"])
    expect(await store().deliveries.drop({ beforeMs: NOW + 10, limit: 99 })).toBe(0)
    expect(await store().deliveries.enqueue(newDelivery("a1"), NOW), "its key is free again").toBe(true)
  })

  test("a lease says whose it is and how long", async () => {
    await enqueue(store(), "a1")
    const leased = await store().deliveries.lease(leaseFor("me"), NOW + 1)
    const expected = { leaseOwner: "me", leaseUntilMs: NOW + 1 + LEASE_MS, attempts: 1, state: "queued" }
    expect(leased).toEqual([expect.objectContaining(expected)])
    expect(await store().deliveries.byKey("a1")).toEqual(leased[0])
  })

  test("a lane is served in order, one at a time", async () => {
    await enqueue(store(), "a1", "a2", "a3")
    expect(await pending("a")).toEqual(["a1", "a2", "a3"])
    for (const key of ["a1", "a2", "a3"]) {
      const leased = await store().deliveries.lease(leaseFor("me"), NOW)
      expect(leased.map((delivery) => delivery.key)).toEqual([key])
      expect(await leasedKeys(store(), "me")).toEqual([])
      expect(await store().deliveries.settle(leased[0]!.seq, "me", "done", null, NOW)).toBe(true)
    }
    expect(await pending("a")).toEqual([])
  })

  test("lanes are served side by side, the oldest first, up to the limit", async () => {
    await enqueue(store(), "a1", "a2", "b1", "c1", "d1")
    expect(await leasedKeys(store(), "me", NOW, { limit: 2 })).toEqual(["a1", "b1"])
    expect(await leasedKeys(store(), "me", NOW, { limit: 0 })).toEqual([])
    expect(await leasedKeys(store(), "me")).toEqual(["c1", "d1"])
  })

  test("a delivery waits for its due time, and its lane waits with it", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { dueAtMs: NOW + 10 }), NOW)
    await enqueue(store(), "a2")
    expect(await leasedKeys(store(), "me", NOW + 9)).toEqual([])
    expect(await leasedKeys(store(), "me", NOW + 10)).toEqual(["a1"])
  })

  test("a delivery for a host goes to that host only, and keeps its lane in order for the others", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { host: "there" }), NOW)
    await enqueue(store(), "a2", "b1")
    expect(await leasedKeys(store(), "me", NOW, { host: "here" })).toEqual(["b1"])
    expect(await leasedKeys(store(), "you", NOW, { host: "there" })).toEqual(["a1"])
  })

  test("only the channels that were asked for are leased", async () => {
    await store().deliveries.enqueue(newDelivery("a1", { channel: "mail" }), NOW)
    await store().deliveries.enqueue(newDelivery("b1", { channel: "push" }), NOW)
    await store().deliveries.enqueue(newDelivery("c1", { channel: "wake" }), NOW)
    expect(await leasedKeys(store(), "me", NOW, { channels: [] })).toEqual([])
    expect(await leasedKeys(store(), "me", NOW, { channels: ["push", "wake"] })).toEqual(["b1", "c1"])
    expect(await leasedKeys(store(), "me", NOW, { channels: ["push", "mail"] })).toEqual(["a1"])
  })

  test("settling keeps the state and the outcome and frees the lane", async () => {
    await enqueue(store(), "a1", "a2")
    const seq = await leaseOne(store(), "me")
    expect(await store().deliveries.settle(seq, "me", "delivered", "it went well", NOW + 3)).toBe(true)
    expect(await store().deliveries.byKey("a1")).toMatchObject({
      state: "delivered",
      outcome: "it went well",
      settledAtMs: NOW + 3,
      leaseOwner: null,
      leaseUntilMs: null,
    })
    expect(await store().deliveries.settle(seq, "me", "failed", "changed my mind", NOW + 4)).toBe(false)
    expect(await leasedKeys(store(), "me")).toEqual(["a2"])
  })

  test("a retry gives it back, due later and still at the head of its lane", async () => {
    await enqueue(store(), "a1", "a2")
    const seq = await leaseOne(store(), "me")
    await store().deliveries.startAttempt(seq, "me", NOW + 1)
    expect(await store().deliveries.retry(seq, "me", NOW + 50, "no answer")).toBe(true)
    expect(await store().deliveries.byKey("a1")).toMatchObject({
      state: "queued",
      outcome: "no answer",
      dueAtMs: NOW + 50,
      leaseOwner: null,
      attemptStartedAtMs: null,
      attempts: 1,
    })
    expect(await leasedKeys(store(), "you", NOW + 49)).toEqual([])
    expect(await leasedKeys(store(), "you", NOW + 50)).toEqual(["a1"])
    expect((await store().deliveries.byKey("a1"))?.attempts).toBe(2)
  })
}
