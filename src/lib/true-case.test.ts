import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type CaseFs, trueCase } from "./true-case.ts"

/** A disk that keeps the spelling of names and ignores it when they are looked up, as macOS does. */
function disk(paths: string[], { sensitive = false } = {}): CaseFs {
  const fold = (path: string) => (sensitive ? path : path.normalize("NFC").toLowerCase())
  const known = new Set(["/"])
  for (const path of paths) {
    const names = path.split("/").slice(1)
    names.forEach((_, depth) => {
      known.add(`/${names.slice(0, depth + 1).join("/")}`)
    })
  }
  return {
    identity: (path) => [...known].find((other) => fold(other) === fold(path)),
    names: (folder) =>
      [...known]
        .filter((path) => path !== "/" && path.slice(0, path.lastIndexOf("/")) === (folder === "/" ? "" : folder))
        .map((path) => path.slice(path.lastIndexOf("/") + 1)),
  }
}

describe("on a disk that ignores case", () => {
  const mac = disk(["/Users/Me/Code/MyApp", "/Users/Me/Été"])

  test.each([
    ["/users/me/code/myapp", "/Users/Me/Code/MyApp"],
    ["/USERS/ME/CODE/MYAPP", "/Users/Me/Code/MyApp"],
    ["/Users/Me/Code/MyApp", "/Users/Me/Code/MyApp"],
    ["/users/me/été", "/Users/Me/Été"],
    ["/users/me/e\u0301te\u0301", "/Users/Me/Été"],
    ["/", "/"],
  ])("%s is spelled %s", (given, spelled) => {
    expect(trueCase(given, mac)).toBe(spelled)
  })

  test("what is not there stays as it was written", () => {
    expect(trueCase("/users/nobody", mac)).toBe("/users/nobody")
  })
})

test("on a disk that tells case apart, nothing changes", () => {
  const linux = disk(["/srv/App", "/srv/app"], { sensitive: true })
  expect(trueCase("/srv/App", linux)).toBe("/srv/App")
  expect(trueCase("/srv/app", linux)).toBe("/srv/app")
})

test("a folder on this machine's disk keeps its spelling", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "throughline-Case-")))
  mkdirSync(join(folder, "MiXed"))
  expect(trueCase(join(folder, "MiXed"))).toBe(join(folder, "MiXed"))
  rmSync(folder, { recursive: true })
})
