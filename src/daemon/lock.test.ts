import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { proves } from "../../test/promises.ts"
import { type Home, homeAt, prepareHome } from "./home.ts"
import { takeLock } from "./lock.ts"

let folder: string
let home: Home
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "throughline-lock-"))
  home = homeAt(join(folder, "home"), folder)
  prepareHome(home)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe(proves("daemon.one-per-home"), () => {
  test("the lock is given once, and again after it was given back", () => {
    const release = takeLock(home)
    expect(release).toBeDefined()
    expect(takeLock(home)).toBeUndefined()
    release?.()
    const again = takeLock(home)
    expect(again).toBeDefined()
    again?.()
  })

  test("homes do not lock each other", () => {
    const other = homeAt(join(folder, "other"), folder)
    prepareHome(other)
    const releases = [takeLock(home), takeLock(other)]
    expect(releases).not.toContain(undefined)
    for (const release of releases) release?.()
  })

  test("only the owner can open the lock's file", () => {
    takeLock(home)?.()
    expect(statSync(home.lock).mode & 0o777).toBe(0o600)
  })
})
