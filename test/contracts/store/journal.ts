import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import type { JournalEntry } from "../../../src/domain/journal.ts"
import type { Store } from "../../../src/domain/store.ts"
import { NOW, range } from "./examples.ts"

export function journalContract(store: () => Store): void {
  const kinds = async (after = 0) => (await store().journal.after(after, 1000)).map((entry) => entry.kind)

  test("an entry comes back whole", async () => {
    const data = { name: 'q"uote', nested: { list: [1, null, "é"] } }
    await store().journal.append([
      { kind: "full", sessionId: "s", projectId: "p", atMs: NOW, data },
      { kind: "bare", atMs: NOW + 1 },
    ])
    expect(await store().journal.after(0, 10)).toEqual([
      { seq: expect.any(Number), kind: "full", sessionId: "s", projectId: "p", atMs: NOW, data },
      { seq: expect.any(Number), kind: "bare", sessionId: null, projectId: null, atMs: NOW + 1, data: {} },
    ])
  })

  test("numbers grow, and reading goes on after a number", async () => {
    expect(await store().journal.last()).toBe(0)
    await store().journal.append(["a", "b"].map((kind) => ({ kind, atMs: NOW })))
    await store().journal.append([])
    await store().journal.append(["c", "d"].map((kind) => ({ kind, atMs: NOW - 1 })))
    const entries = await store().journal.after(0, 10)
    expect(entries.map((entry) => entry.kind)).toEqual(["a", "b", "c", "d"])
    const numbers = entries.map((entry) => entry.seq)
    expect(numbers[0]).toBeGreaterThan(0)
    for (const index of [1, 2, 3]) expect(numbers[index]).toBeGreaterThan(numbers[index - 1]!)
    expect(await store().journal.last()).toBe(numbers[3])
    expect(await kinds(numbers[1])).toEqual(["c", "d"])
    expect(await kinds(numbers[3])).toEqual([])
    expect(await store().journal.after(numbers[0]!, 2)).toEqual(entries.slice(1, 3))
  })

  test("a key is written once; entries beside it are written all the same", async () => {
    expect(await store().journal.append([{ kind: "first", atMs: NOW, key: "k1" }])).toBe(1)
    const written = await store().journal.append([
      { kind: "second", atMs: NOW, key: "k1" },
      { kind: "third", atMs: NOW, key: "k2" },
      { kind: "fourth", atMs: NOW, key: "k2" },
      { kind: "fifth", atMs: NOW },
      { kind: "sixth", atMs: NOW },
    ])
    expect(written).toBe(3)
    expect(await kinds()).toEqual(["first", "third", "fifth", "sixth"])
  })

  test("each consumer has its own position, and it never goes backwards", async () => {
    expect(await store().journal.position("words")).toBe(0)
    await store().journal.advance("words", 7)
    await store().journal.advance("mail", 2)
    expect(await store().journal.position("words")).toBe(7)
    await store().journal.advance("words", 3)
    expect(await store().journal.position("words")).toBe(7)
    await Promise.all(range(20).map((index) => store().journal.advance("words", 20 - index)))
    expect(await store().journal.position("words")).toBe(20)
    expect(await store().journal.position("mail")).toBe(2)
  })

  test("a consumer that polls all the time sees every entry once and in order, whatever commits beside it", async () => {
    let writing = true
    const seen: JournalEntry[] = []
    const follow = async () => {
      for (;;) {
        const wasWriting = writing
        const entries = await store().journal.after(seen.at(-1)?.seq ?? 0, 5)
        seen.push(...entries)
        if (!wasWriting && entries.length === 0) return
      }
    }
    const following = follow()

    const expected: string[] = []
    const write = async (writer: number) => {
      for (const round of range(10)) {
        const kind = `${writer}.${round}`
        const rollsBack = (writer + round) % 5 === 0
        if (!rollsBack) expected.push(`${kind}.a`, `${kind}.b`)
        const work = store().transaction(async (tx) => {
          await tx.journal.append([{ kind: `${kind}.a`, atMs: NOW }])
          // Differing pauses between the write and the commit would let a later number become visible first.
          await sleep((writer * 3 + round) % 6)
          await tx.journal.append([{ kind: `${kind}.b`, atMs: NOW }])
          if (rollsBack) throw new Error("changed its mind")
        })
        await work.catch((error: Error) => expect(error.message).toBe("changed its mind"))
      }
    }
    await Promise.all(range(6).map(write))
    writing = false
    await following

    expect(seen.map((entry) => entry.kind).toSorted()).toEqual(expected.toSorted())
    expect(seen).toEqual(await store().journal.after(0, 1000))
  })
}
