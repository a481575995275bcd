import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { proves } from "../../../test/promises.ts"
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
    const lock = takeLock(home)
    expect(lock).toBeDefined()
    expect(takeLock(home)).toBeUndefined()
    lock?.release()
    const again = takeLock(home)
    expect(again).toBeDefined()
    again?.release()
  })

  test("homes do not lock each other", () => {
    const other = homeAt(join(folder, "other"), folder)
    prepareHome(other)
    const locks = [takeLock(home), takeLock(other)]
    expect(locks).not.toContain(undefined)
    for (const lock of locks) lock?.release()
  })

  test("a data directory that was deleted and created again belongs to another daemon", () => {
    const lock = takeLock(home)!
    expect(lock.isInPlace()).toBe(true)
    rmSync(home.dir, { recursive: true })
    expect(lock.isInPlace()).toBe(false)
    prepareHome(home)
    const other = takeLock(home)!
    expect([lock.isInPlace(), other.isInPlace()]).toEqual([false, true])
    lock.release()
    other.release()
  })

  test("only the owner can open the lock's file", () => {
    takeLock(home)?.release()
    expect(statSync(home.lock).mode & 0o777).toBe(0o600)
  })
})
