import { expect, test } from "vitest"
import { newProjectId } from "../../../src/domain/ids.ts"
import type { Store } from "../../../src/domain/store.ts"
import { addProject, NOW, range } from "./examples.ts"

export function projectsContract(store: () => Store): void {
  test("a root becomes a project once and stays the same one", async () => {
    const first = await store().projects.ensure("file:///w/a", NOW)
    const again = await store().projects.ensure("file:///w/a", NOW + 1)
    expect(first).toEqual({ id: expect.any(String), rootUri: "file:///w/a", createdAtMs: NOW })
    expect(again).toEqual(first)
    expect(await store().projects.list()).toEqual([first])
  })

  test("a root that many ask for at the same time becomes one project", async () => {
    const alone = range(12).map(() => store().projects.ensure("file:///w/a", NOW))
    const inTransactions = range(12).map(() => store().transaction((tx) => tx.projects.ensure("file:///w/a", NOW)))
    const projects = await Promise.all([...alone, ...inTransactions])
    expect(new Set(projects.map((project) => project.id)).size).toBe(1)
    expect(await store().projects.list()).toHaveLength(1)
  })

  test("different roots are different projects, listed by root", async () => {
    const b = await addProject(store(), "b")
    const a = await addProject(store(), "a")
    expect(a).not.toBe(b)
    expect((await store().projects.list()).map((project) => project.id)).toEqual([a, b])
  })

  test("a project is found by its id and by its root, and nothing else is", async () => {
    const project = await store().projects.ensure("file:///w/a", NOW)
    expect(await store().projects.byId(project.id)).toEqual(project)
    expect(await store().projects.byRoot("file:///w/a")).toEqual(project)
    expect(await store().projects.byId(newProjectId())).toBeUndefined()
    expect(await store().projects.byRoot("file:///work")).toBeUndefined()
  })

  test("a project that a transaction made and undid is never seen outside of it", async () => {
    const seen: Promise<unknown>[] = []
    const undone = store().transaction(async (tx) => {
      await tx.projects.ensure("file:///w/a", NOW)
      expect(await tx.projects.byRoot("file:///w/a")).toBeDefined()
      seen.push(store().projects.byRoot("file:///w/a"))
      throw new Error("undone")
    })
    await expect(undone).rejects.toThrow("undone")
    expect(await Promise.all(seen)).toEqual([undefined])
    expect(await store().projects.byRoot("file:///w/a")).toBeUndefined()
  })

  test("a path that was seen leads to its project", async () => {
    const a = await addProject(store(), "a")
    await store().projects.remember("file:///link", a)
    await store().projects.remember("file:///link", a)
    expect((await store().projects.bySeen("file:///link"))?.id).toBe(a)
    expect(await store().projects.bySeen("file:///a")).toBeUndefined()
  })

  test("a path that is seen anew leads to the later project", async () => {
    const [a, b] = [await addProject(store(), "a"), await addProject(store(), "b")]
    await store().projects.remember("file:///link", a)
    await store().projects.remember("file:///link", b)
    expect((await store().projects.bySeen("file:///link"))?.id).toBe(b)
  })
}
