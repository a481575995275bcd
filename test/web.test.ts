import { readdirSync, readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { join, posix } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"

const project = fileURLToPath(new URL("..", import.meta.url))
const MAX_LINES = 150
const MAX_BUNDLE_BYTES = 250_000
/** What of the program is in the page; anything else of it may be named as a type only. */
const SHARED = ["src/surfaces/http/client.ts", "src/domain/failure.ts", "src/domain/tool-call.ts"]
const PACKAGES = ["preact", "@preact/signals", "marked", "uplot", "@tanstack/virtual-core"]
const IMPORT = /^\s*(?:import|export)\s+(type\s)?(?:[^"'`;]*?\sfrom\s*)?["']([^"']+)["']/gm

function violations(file: string, source: string): string[] {
  const found = [...source.matchAll(IMPORT)].filter(([, type, from]) => {
    if (!from!.startsWith(".")) return !PACKAGES.some((name) => from === name || from!.startsWith(`${name}/`))
    const target = posix.join(posix.dirname(file), from!)
    return !(target.startsWith("web/src/") || SHARED.includes(target) || (type && target.startsWith("src/")))
  })
  const lines = source.trimEnd().split("\n").length
  return [
    ...found.map(([, , from]) => `${file}: imports ${from}`),
    ...(lines > MAX_LINES ? [`${file}: has ${lines} lines`] : []),
    ...(/\bfetch\(/.test(source) && !/web\/src\/(api|events|session)\.ts$/.test(file)
      ? [`${file}: talks HTTP by itself`]
      : []),
  ]
}

describe("the dashboard's source", () => {
  test("takes of the program the client, the failures and how a call is read, and else only types", async () => {
    const files = (await Array.fromAsync(glob("web/src/**/*.{ts,tsx,css}", { cwd: project }))).filter(
      (file) => !/\.test\.tsx?$/.test(file),
    )
    expect(files.length).toBeGreaterThan(25)
    expect(files.flatMap((file) => violations(file, readFileSync(join(project, file), "utf8")))).toEqual([])
  })

  test.each([
    ["the program's code", 'import { operations } from "../../src/operations/list.ts"'],
    ["Node", 'import { readFileSync } from "node:fs"'],
    ["another package", 'import x from "react"'],
    ["a call past the client", 'const a = await fetch("/api/status")'],
  ])("the checker catches %s", (_, source) => {
    expect(violations("web/src/x.ts", source)).toHaveLength(1)
  })
})

test("what the browser loads is small: all of it, as it goes over the wire", () => {
  const entries = readdirSync(join(project, "dist", "web"), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  expect(files.map(({ name }) => name)).toContain("index.html")
  const bytes = files.reduce(
    (sum, { parentPath, name }) => sum + gzipSync(readFileSync(join(parentPath, name))).length,
    0,
  )
  expect(bytes).toBeLessThanOrEqual(MAX_BUNDLE_BYTES)
})
