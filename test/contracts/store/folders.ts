import { expect, test } from "vitest"
import type { Store } from "../../../src/domain/store.ts"
import { NOW } from "./examples.ts"

export function foldersContract(store: () => Store): void {
  test("a folder is followed on the machine that it is on, the newest first", async () => {
    await store().folders.seen("here", "/w/a", NOW)
    await store().folders.seen("here", "/w/b", NOW + 1)
    await store().folders.seen("there", "/w/c", NOW + 2)
    expect(await store().folders.of("here")).toEqual([
      { path: "/w/b", seenAtMs: NOW + 1 },
      { path: "/w/a", seenAtMs: NOW },
    ])
  })

  test("a folder that is seen again is the newest, and is there once", async () => {
    await store().folders.seen("here", "/w/a", NOW)
    await store().folders.seen("here", "/w/b", NOW + 1)
    await store().folders.seen("here", "/w/a", NOW + 2)
    expect((await store().folders.of("here")).map(({ path }) => path)).toEqual(["/w/a", "/w/b"])
  })

  test("what is dropped is followed no longer, and only on that machine", async () => {
    for (const host of ["here", "there"])
      for (const path of ["/w/a", "/w/b"]) await store().folders.seen(host, path, NOW)
    await store().folders.drop("here", ["/w/a"])
    await store().folders.drop("here", [])
    expect((await store().folders.of("here")).map(({ path }) => path)).toEqual(["/w/b"])
    expect(await store().folders.of("there")).toHaveLength(2)
  })
}
