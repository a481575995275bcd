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
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///a", sessionId: null })
    await store().bindings.set("caller", { sessionId: id }, NOW + 1)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///a", sessionId: id })
    await store().bindings.set("caller", { rootUri: "file:///b" }, NOW + 2)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///b", sessionId: id })
    await store().bindings.set("caller", { sessionId: null }, NOW + 3)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///b", sessionId: null })
    await store().bindings.set("caller", {}, NOW + 4)
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///b", sessionId: null })
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

  test("changes at the same time do not undo each other", async () => {
    const { id } = await addSession(store())
    const roots = range(8).map(() => store().bindings.set("caller", { rootUri: "file:///a" }, NOW))
    const sessions = range(8).map(() => store().bindings.set("caller", { sessionId: id }, NOW))
    await Promise.all([...roots, ...sessions])
    expect(await store().bindings.get("caller")).toEqual({ rootUri: "file:///a", sessionId: id })
  })
}
