import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { configFile } from "./config-file.ts"

let dir = ""
let path = ""
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "config-"))
  path = join(dir, "config.json")
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const file = () => configFile(path, {}, [])
const EMBEDDER = { kind: "openai-compatible", baseUrl: "http://localhost:1/v1", model: "m", apiKey: "sk-very-secret" }

test("what is written is converted, and stands beside comments and everything else", () => {
  writeFileSync(path, '{\n  // mine\n  "http": { "port": 5000 }\n}\n', { mode: 0o600 })
  file().set("log.level", "debug")
  file().set("http.enabled", "false")
  expect(readFileSync(path, "utf8")).toContain("// mine")
  const shown = Object.fromEntries(
    file()
      .show()
      .map(({ key, value }) => [key, value]),
  )
  expect(shown).toMatchObject({ "log.level": "debug", "http.enabled": false, "http.port": 5000 })
  file().set("http.port", undefined)
  expect(
    file()
      .show()
      .find(({ key }) => key === "http.port"),
  ).toMatchObject({ value: 4747, source: "default" })
})

test("a value that is no good changes nothing, and leaves no draft behind", () => {
  writeFileSync(path, '{ "http": { "port": 5000 } }', { mode: 0o600 })
  expect(() => file().set("http.port", "99999")).toThrow(/http\.port = 99999/)
  expect(() => file().set("http.prot", "1")).toThrow(/is not a setting/)
  expect(readFileSync(path, "utf8")).toBe('{ "http": { "port": 5000 } }')
  expect(existsSync(`${path}.draft`)).toBe(false)
})

test("a secret inside of a setting is written as it is, and never replaced by what is shown instead of it", () => {
  file().set("embedder", JSON.stringify(EMBEDDER))
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ embedder: EMBEDDER })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const shown = file()
    .show()
    .find(({ key }) => key === "embedder")!.value as typeof EMBEDDER
  expect(shown.apiKey).toBe("***")
  expect(() => file().set("embedder", JSON.stringify({ ...shown, model: "other" }))).toThrow(/stands for a secret/)
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ embedder: EMBEDDER })
})
