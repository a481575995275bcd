import { expect, test } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import { addSession, NOW, newThought, range } from "./examples.ts"

export function thoughtsContract(store: () => Store): void {
  test("a thought comes back whole", async () => {
    const { id } = await addSession(store())
    const given = newThought(id, 3, {
      branchId: "b",
      text: "line one\nline two – ünïcode 🧵",
      nextThoughtNeeded: false,
      isRevision: true,
      revisesThought: 1,
      branchFromThought: 2,
      renumberedFrom: 9,
      key: "k1",
    })
    const { thought: added } = await store().thoughts.add(given)
    const { key: _, ...kept } = given
    expect(added).toEqual({ ...kept, seq: expect.any(Number) })
    expect(await store().thoughts.byKey("k1")).toEqual(added)
    expect(await store().thoughts.at(id, "b", 3)).toEqual(added)
  })

  test("a thought moves its session's time on and takes it out of the archive", async () => {
    const { id } = await addSession(store())
    const other = await addSession(store())
    for (const each of [id, other.id]) await store().sessions.update(each, { archivedAtMs: NOW + 1 })
    const { thoughtCount } = await store().thoughts.add(newThought(id, 1, { createdAtMs: NOW + 2 }))
    expect(thoughtCount).toBe(1)
    expect(await store().sessions.byId(id)).toMatchObject({ updatedAtMs: NOW + 2, archivedAtMs: null, thoughtCount: 1 })
    const untouched = { updatedAtMs: NOW, archivedAtMs: NOW + 1, thoughtCount: 0 }
    expect(await store().sessions.byId(other.id)).toMatchObject(untouched)
  })

  test("a number is used once per branch of a session", async () => {
    const { id } = await addSession(store())
    const other = await addSession(store())
    await store().thoughts.add(newThought(id, 1))
    await store().thoughts.add(newThought(id, 1, { branchId: "b" }))
    await store().thoughts.add(newThought(other.id, 1))
    await expect(store().thoughts.add(newThought(id, 1))).rejects.toThrow()
    await expect(store().thoughts.add(newThought(id, 1, { branchId: "b" }))).rejects.toThrow()
    expect(await store().thoughts.all(id)).toHaveLength(2)
  })

  test("a key is used once", async () => {
    const { id } = await addSession(store())
    const { thought: first } = await store().thoughts.add(newThought(id, 1, { key: "k1" }))
    await expect(store().thoughts.add(newThought(id, 2, { key: "k1" }))).rejects.toThrow()
    expect(await store().thoughts.byKey("k1")).toEqual(first)
    expect(await store().thoughts.byKey("k2")).toBeUndefined()
  })

  test("the highest number is that of the branch that was asked for", async () => {
    const { id } = await addSession(store())
    expect(await store().thoughts.highest(id, null)).toBe(0)
    for (const number of [1, 2, 10]) await store().thoughts.add(newThought(id, number))
    await store().thoughts.add(newThought(id, 11, { branchId: "b" }))
    expect(await store().thoughts.highest(id, null)).toBe(10)
    expect(await store().thoughts.highest(id, "b")).toBe(11)
    expect(await store().thoughts.highest(id, "c")).toBe(0)
  })

  test("a thought is found at its place only", async () => {
    const { id } = await addSession(store())
    const other = await addSession(store())
    const { thought: main } = await store().thoughts.add(newThought(id, 1))
    const { thought: branch } = await store().thoughts.add(newThought(id, 2, { branchId: "b" }))
    expect(await store().thoughts.at(id, null, 1)).toEqual(main)
    expect(await store().thoughts.at(id, "b", 2)).toEqual(branch)
    expect(await store().thoughts.at(id, null, 2)).toBeUndefined()
    expect(await store().thoughts.at(id, "b", 1)).toBeUndefined()
    expect(await store().thoughts.at(other.id, null, 1)).toBeUndefined()
  })

  test("a branch begins where its first recorded thought says", async () => {
    const { id } = await addSession(store())
    await store().thoughts.add(newThought(id, 8, { branchId: "b", branchFromThought: 3 }))
    await store().thoughts.add(newThought(id, 7, { branchId: "b", branchFromThought: 4 }))
    expect(await store().thoughts.branchOrigin(id, "b")).toBe(3)
    expect(await store().thoughts.branchOrigin(id, "c")).toBeUndefined()
  })

  test("pages go from the newest to the oldest without gap or overlap", async () => {
    const { id } = await addSession(store())
    const other = await addSession(store())
    const added: number[] = []
    for (const number of [5, 4, 3, 2, 1]) {
      const branchId = number % 2 === 0 ? "b" : null
      added.push((await store().thoughts.add(newThought(id, number, { branchId }))).thought.seq)
      await store().thoughts.add(newThought(other.id, number))
    }
    const newestFirst = added.toReversed()
    const page = async (limit: number, beforeSeq?: number) => {
      const thoughts = await store().thoughts.page(id, beforeSeq === undefined ? { limit } : { limit, beforeSeq })
      return thoughts.map((thought) => thought.seq)
    }
    expect(await page(2)).toEqual(newestFirst.slice(0, 2))
    expect(await page(2, newestFirst[1])).toEqual(newestFirst.slice(2, 4))
    expect(await page(2, newestFirst[3])).toEqual(newestFirst.slice(4))
    expect(await page(2, newestFirst[4])).toEqual([])
    expect((await store().thoughts.all(id)).map((thought) => thought.seq)).toEqual(added)
  })

  test("thoughts are fetched by their sequence numbers", async () => {
    const { id } = await addSession(store())
    const added = []
    for (const number of [1, 2, 3]) added.push((await store().thoughts.add(newThought(id, number))).thought)
    const found = await store().thoughts.bySeqs([added[2]!.seq, added[0]!.seq, 999_999])
    expect(found.toSorted((a, b) => a.seq - b.seq)).toEqual([added[0], added[2]])
    expect(await store().thoughts.bySeqs([])).toEqual([])
  })

  test("writers at the same time get consecutive numbers, each its own", async () => {
    const { id } = await addSession(store())
    const write = (index: number) =>
      store().transaction(async (tx) => {
        await tx.thoughts.lock(id)
        const number = (await tx.thoughts.highest(id, null)) + 1
        await tx.thoughts.add(newThought(id, number, { key: `writer ${index}`, createdAtMs: NOW + index }))
        return number
      })
    const numbers = await Promise.all(range(20).map(write))
    expect(numbers.toSorted((a, b) => a - b)).toEqual(range(20).map((index) => index + 1))
    const inOrder = await store().thoughts.all(id)
    expect(inOrder.map((thought) => thought.number)).toEqual(range(20).map((index) => index + 1))
  })
}
