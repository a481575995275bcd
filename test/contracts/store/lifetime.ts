import { expect, test } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import type { OpenedStore } from "../store.ts"
import { addProject, addSession, enqueue, leaseFor, leaseOne, NOW, newThought } from "./examples.ts"

export function lifetimeContract(opened: () => OpenedStore): void {
  const fill = async (store: Store) => {
    const projectId = await addProject(store, "a")
    await store.projects.remember("file:///link", projectId)
    const session = await addSession(store, { projectId, title: "Plan", tags: ["x"] })
    await store.sessions.link(session.id, await addProject(store, "b"))
    await store.sessions.update(session.id, { pinnedAtMs: NOW + 1 })
    for (const number of [1, 2]) await store.thoughts.add(newThought(session.id, number, { text: `zebra ${number}` }))
    await store.bindings.set("caller", { rootUri: "file:///a", sessionId: session.id }, NOW)
    await store.journal.append(["a", "b", "c"].map((kind) => ({ kind, atMs: NOW })))
    await store.journal.advance("words", 2)
    await enqueue(store, "a1", "a2", "b1")
    await store.deliveries.startAttempt(await leaseOne(store, "me"), "me", NOW + 2)
  }
  const everything = async (store: Store) => {
    const projects = await store.projects.list()
    const sessions = await store.sessions.list({})
    return {
      projects,
      sessions,
      seen: await store.projects.bySeen("file:///link"),
      pinned: await store.sessions.pinned(projects[0]!.id, "throughline"),
      linked: await store.sessions.linkedRoots(sessions[0]!.id),
      thoughts: await store.thoughts.all(sessions[0]!.id),
      binding: await store.bindings.get("caller"),
      journal: await store.journal.after(0, 9),
      last: await store.journal.last(),
      position: await store.journal.position("words"),
      deliveries: [...(await store.deliveries.pending("a")), ...(await store.deliveries.pending("b"))],
    }
  }

  test("an opened-again store has everything the closed one had, and goes on counting", async () => {
    await fill(opened().store)
    const before = await everything(opened().store)
    expect(before.thoughts).toHaveLength(2)
    expect(before.deliveries).toHaveLength(3)
    const store = await opened().reopen()
    expect(await everything(store)).toEqual(before)
    await store.journal.append([{ kind: "d", atMs: NOW }])
    expect(await store.journal.last()).toBeGreaterThan(before.last)
    expect((await store.deliveries.lease(leaseFor("you"), NOW)).map((delivery) => delivery.key)).toEqual(["b1"])
  })

  test("every number is a number", async () => {
    const { store } = opened()
    await fill(store)
    const all = await everything(store)
    const session = all.sessions[0]!
    const [thought, delivery, entry] = [all.thoughts[0]!, all.deliveries[0]!, all.journal[0]!]
    const facts = await store.facts()
    const numbers = {
      project: all.projects[0]!.createdAtMs,
      session: [
        session.createdAtMs,
        session.updatedAtMs,
        session.pinnedAtMs,
        session.thoughtCount,
        session.branchCount,
      ],
      thought: [thought.seq, thought.number, thought.totalThoughts, thought.createdAtMs],
      highest: await store.thoughts.highest(session.id, null),
      journal: [entry.seq, entry.atMs, all.last, all.position],
      delivery: [delivery.seq, delivery.attempts, delivery.maxAttempts, delivery.dueAtMs, delivery.createdAtMs],
      lease: [delivery.leaseUntilMs, delivery.attemptStartedAtMs],
      facts: [facts.sizeBytes, facts.sessions, facts.thoughts, facts.journal],
    }
    for (const [name, values] of Object.entries(numbers)) {
      for (const value of [values].flat())
        expect([name, typeof value, Number.isFinite(value)]).toEqual([name, "number", true])
    }
    expect(numbers.session).toEqual([NOW, NOW, NOW + 1, 2, 0])
    expect(numbers.lease).toEqual([NOW + 1000, NOW + 2])
  })

  test("the facts count what is there", async () => {
    const { store } = opened()
    expect(await store.facts()).toMatchObject({ sessions: 0, thoughts: 0, journal: 0 })
    await fill(store)
    const facts = await store.facts()
    expect(facts).toMatchObject({ sessions: 1, thoughts: 2, journal: 3 })
    expect(facts.sizeBytes).toBeGreaterThan(0)
    expect(facts.version).toMatch(/^\d+\./)
    expect(facts.kind).not.toBe("")
    expect(facts.place).not.toBe("")
  })

  test("a store can be closed twice", async () => {
    const store = await opened().reopen()
    await store.close()
    await store.close()
    await expect(store.projects.list()).rejects.toThrow()
  })
}
