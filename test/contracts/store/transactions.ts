import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test, vi } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import { addSession, enqueue, leaseFor, leaseOne, NOW, newDelivery, newSession, newThought, range } from "./examples.ts"

/** Long enough for a notification to make its way through a server and back. */
const A_WHILE_MS = 200

export function transactionsContract(store: () => Store): void {
  const writeEverywhere = async (tx: Store) => {
    const project = await tx.projects.ensure("file:///a", NOW)
    await tx.projects.remember("file:///link", project.id)
    const { session } = await tx.sessions.create(newSession({ projectId: project.id, key: "k1" }))
    await tx.thoughts.add(newThought(session.id, 1, { text: "zebra", key: "k1" }))
    await tx.bindings.set("caller", { sessionId: session.id }, NOW)
    await tx.journal.append([{ kind: "made", atMs: NOW }])
    await tx.journal.advance("words", 9)
    await tx.deliveries.enqueue(newDelivery("a1"), NOW)
  }
  const found = async () => ({
    projects: (await store().projects.list()).length,
    seen: (await store().projects.bySeen("file:///link")) !== undefined,
    sessions: (await store().sessions.list({})).length,
    thought: (await store().thoughts.byKey("k1")) !== undefined,
    binding: (await store().bindings.get("caller")) !== undefined,
    journal: (await store().journal.after(0, 9)).length,
    position: await store().journal.position("words"),
    delivery: (await store().deliveries.byKey("a1")) !== undefined,
  })

  test("a transaction that throws leaves nothing behind, and one that does not keeps everything", async () => {
    const before = await found()
    const failing = store().transaction(async (tx) => {
      await writeEverywhere(tx)
      throw new Error("changed its mind")
    })
    await expect(failing).rejects.toThrow("changed its mind")
    expect(await found()).toEqual(before)

    expect(await store().transaction(async (tx) => writeEverywhere(tx).then(() => "result"))).toBe("result")
    const all = {
      projects: 1,
      seen: true,
      sessions: 1,
      thought: true,
      binding: true,
      journal: 1,
      position: 9,
    }
    expect(await found()).toEqual({ ...all, delivery: true })
  })

  test("a statement that fails undoes the whole transaction, and the next one works", async () => {
    const { id } = await addSession(store())
    for (const _ of range(12)) {
      const failing = store().transaction(async (tx) => {
        await tx.thoughts.add(newThought(id, 1))
        await tx.thoughts.add(newThought(id, 1))
      })
      await expect(failing).rejects.toThrow(/unique/i)
    }
    expect(await store().thoughts.all(id)).toEqual([])
    await store().transaction((tx) => tx.thoughts.add(newThought(id, 1)))
    expect(await store().thoughts.all(id)).toHaveLength(1)
  })

  test("a change is seen inside before the commit", async () => {
    const { id } = await addSession(store())
    const inside = await store().transaction(async (tx) => {
      await tx.thoughts.add(newThought(id, 4))
      return tx.thoughts.highest(id, null)
    })
    expect(inside).toBe(4)
  })

  test("one that can be read again is all or nothing too, and the next one is as durable as ever", async () => {
    const entry = (kind: string) => ({ kind, atMs: 1 })
    const failing = store().transaction(
      async (tx) => {
        await tx.journal.append([entry("lost")])
        throw new Error("on purpose")
      },
      { durability: "relaxed" },
    )
    await expect(failing).rejects.toThrow("on purpose")
    await store().transaction((tx) => tx.journal.append([entry("kept")]), { durability: "relaxed" })
    await store().transaction((tx) => tx.journal.append([entry("durable")]))
    expect((await store().journal.after(0, 10)).map(({ kind }) => kind)).toEqual(["kept", "durable"])
  })

  test("transactions do not nest", async () => {
    await expect(store().transaction((tx) => tx.transaction(async () => {}))).rejects.toThrow("do not nest")
  })

  test("one transaction in many fails alone", async () => {
    const { id } = await addSession(store())
    const results = await Promise.allSettled(
      range(20).map((index) =>
        store().transaction(async (tx) => {
          await tx.thoughts.add(newThought(id, index))
          if (index % 4 === 0) throw new Error("changed its mind")
        }),
      ),
    )
    expect(results.filter((result) => result.status === "rejected")).toHaveLength(5)
    const kept = (await store().thoughts.all(id)).map((thought) => thought.number)
    expect(kept.toSorted((a, b) => a - b)).toEqual(range(20).filter((index) => index % 4 !== 0))
  })

  describe("a wake", () => {
    test("comes after the commit of an entry or a delivery, and not before", async () => {
      const listener = vi.fn()
      store().onWake(listener)
      await store().transaction(async (tx) => {
        await tx.journal.append([{ kind: "made", atMs: NOW }])
        await tx.deliveries.enqueue(newDelivery("a1"), NOW)
        await sleep(A_WHILE_MS)
        expect(listener).not.toHaveBeenCalled()
      })
      await vi.waitFor(() => expect(listener).toHaveBeenCalled())
    })

    test("comes when the entry can be read", async () => {
      const woken = Promise.withResolvers<void>()
      const leave = store().onWake(woken.resolve)
      const read = woken.promise.then(() => store().journal.after(0, 9))
      await store().journal.append([{ kind: "made", atMs: NOW }])
      expect((await read).map(({ kind }) => kind)).toEqual(["made"])
      leave()
    })

    test("does not come after a rollback, nor for a change that moves neither", async () => {
      const listener = vi.fn()
      store().onWake(listener)
      const failing = store().transaction(async (tx) => {
        await tx.journal.append([{ kind: "made", atMs: NOW }])
        await tx.deliveries.enqueue(newDelivery("a1"), NOW)
        throw new Error("changed its mind")
      })
      await expect(failing).rejects.toThrow("changed its mind")
      await store().transaction((tx) => tx.projects.ensure("file:///a", NOW))
      await store().deliveries.lease(leaseFor("me"), NOW)
      await sleep(A_WHILE_MS)
      expect(listener).not.toHaveBeenCalled()
    })

    test.each([
      ["an entry", () => store().journal.append([{ kind: "made", atMs: NOW }])],
      ["a delivery", () => store().deliveries.enqueue(newDelivery("b1"), NOW)],
      ["a settled delivery", (leased: number) => store().deliveries.settle(leased, "me", "done", null, NOW)],
    ])("comes for %s outside a transaction too", async (_, act) => {
      await enqueue(store(), "a1")
      const leased = await leaseOne(store(), "me")
      await sleep(A_WHILE_MS)
      const listener = vi.fn()
      store().onWake(listener)
      await act(leased)
      await vi.waitFor(() => expect(listener).toHaveBeenCalled())
    })

    test("comes no more to a listener that has gone", async () => {
      const [gone, here] = [vi.fn(), vi.fn()]
      const leave = store().onWake(gone)
      store().onWake(here)
      leave()
      await store().journal.append([{ kind: "made", atMs: NOW }])
      await sleep(A_WHILE_MS)
      expect(here).toHaveBeenCalled()
      expect(gone).not.toHaveBeenCalled()
    })
  })
}
