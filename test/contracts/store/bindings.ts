import { expect, test } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import { addSession, NOW, range } from "./examples.ts"

export function bindingsContract(store: () => Store): void {
  test("a caller without a binding has none", async () => {
    await store().bindings.set("other", { rootUri: "file:///a" }, NOW)
    expect(await store().bindings.get("caller")).toBeUndefined()
  })

  test("a change keeps what it does not name", async () => {
    const { id } = await addSession(store())
    await store().bindings.set("caller", { rootUri: "file:///a" }, NOW)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///a", sessionId: null, isOwn: false })
    await store().bindings.set("caller", { sessionId: id }, NOW + 1)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///a", sessionId: id, isOwn: false })
    await store().bindings.set("caller", { rootUri: "file:///b" }, NOW + 2)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///b", sessionId: id, isOwn: false })
    await store().bindings.set("caller", { sessionId: null }, NOW + 3)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///b", sessionId: null, isOwn: false })
    await store().bindings.set("caller", {}, NOW + 4)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///b", sessionId: null, isOwn: false })
  })

  test("whether a caller wrote into its session is kept with that choice, and who else chose it is known", async () => {
    const [one, two] = [await addSession(store()), await addSession(store())]
    await store().bindings.set("caller", { sessionId: one.id, isOwn: true }, NOW)
    await store().bindings.set("other", { sessionId: one.id }, NOW)
    expect(await store().bindings.get("caller")).toMatchObject({ isOwn: true })
    expect((await store().bindings.holders(one.id)).sort()).toEqual(["caller", "other"])
    await store().bindings.set("caller", { rootUri: "file:///a" }, NOW)
    expect(await store().bindings.get("caller")).toMatchObject({ sessionId: one.id, isOwn: true })
    await store().bindings.set("caller", { sessionId: two.id }, NOW)
    expect(await store().bindings.get("caller")).toMatchObject({ sessionId: two.id, isOwn: false })
  })

  test("the session that a caller chose last is found by the caller", async () => {
    const { id } = await addSession(store())
    expect(await store().sessions.boundTo("caller")).toBeUndefined()
    await store().bindings.set("caller", { rootUri: "file:///a" }, NOW)
    expect(await store().sessions.boundTo("caller")).toBeUndefined()
    await store().bindings.set("caller", { sessionId: id }, NOW)
    expect(await store().sessions.boundTo("caller")).toEqual(await store().sessions.byId(id))
    expect(await store().sessions.boundTo("other")).toBeUndefined()
  })

  test("a caller's state is what it chose last, and how many of its project are open", async () => {
    const project = await store().projects.ensure("file:///a", NOW)
    const elsewhere = await store().projects.ensure("file:///b", NOW)
    const state = () => store().sessions.stateOf("caller", project.id, "throughline")
    expect(await state()).toEqual({ bound: undefined, open: 0 })
    const [own, archived, linked, twice, foreign] = await Promise.all([
      addSession(store(), { projectId: project.id }),
      addSession(store(), { projectId: project.id }),
      addSession(store(), { projectId: elsewhere.id }),
      addSession(store(), { projectId: project.id }),
      addSession(store(), { projectId: null }),
    ])
    await addSession(store(), { projectId: project.id, platform: "codex" })
    await store().sessions.update(archived.id, { archivedAtMs: NOW })
    for (const { id } of [linked, twice, foreign, archived]) await store().sessions.link(id, project.id)
    expect(await state()).toEqual({ bound: undefined, open: 4 })
    await store().bindings.set("caller", { sessionId: own.id }, NOW)
    expect(await state()).toEqual({ bound: await store().sessions.byId(own.id), open: 4 })
    expect(await store().sessions.stateOf("other", elsewhere.id, "throughline")).toEqual({ bound: undefined, open: 1 })
  })

  test("changes at the same time do not undo each other", async () => {
    const { id } = await addSession(store())
    const roots = range(8).map(() => store().bindings.set("caller", { rootUri: "file:///a" }, NOW))
    const sessions = range(8).map(() => store().bindings.set("caller", { sessionId: id }, NOW))
    await Promise.all([...roots, ...sessions])
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///a", sessionId: id, isOwn: false })
  })
}
