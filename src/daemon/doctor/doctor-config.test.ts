import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { readEnvironment } from "../process/environment.ts"
import type { Home } from "../process/home.ts"
import { configuration } from "./doctor-config.ts"

let home: Home
beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), "tl-config-"))
  home = { dir, config: join(dir, "config.json") } as Home
})
afterEach(() => rmSync(home.dir, { recursive: true, force: true }))

const check = (variables: Record<string, string>) => configuration(home, readEnvironment(variables), undefined)

test("for a bad variable the remedy is the variable, not the file", async () => {
  expect(await check({ THROUGHLINE_HTTP_PORT: "banana" })).toMatchObject([
    { state: "wrong", remedy: "Correct or unset the variable THROUGHLINE_HTTP_PORT." },
  ])
  expect(await check({ THROUGHLINE_HTTP_PROT: "1" })).toMatchObject([
    { state: "wrong", remedy: "Correct or unset the variable THROUGHLINE_HTTP_PROT." },
  ])
})

test("for a bad file in a folder called environment the remedy is the file", async () => {
  const folder = join(home.dir, "environment")
  mkdirSync(folder)
  home = { ...home, config: join(folder, "config.json") }
  writeFileSync(home.config, '{ "http": { "port": "banana" } }', { mode: 0o600 })
  expect(await check({})).toMatchObject([{ remedy: expect.stringContaining(`Correct it in ${home.config}`) }])
})

test("a bad value in the file is reported while a variable overrides it", async () => {
  writeFileSync(home.config, '{ "http": { "port": "banana" } }', { mode: 0o600 })
  const file = { remedy: expect.stringContaining(`Correct it in ${home.config}`) }
  expect(await check({})).toMatchObject([{ state: "wrong", ...file }])
  expect(await check({ THROUGHLINE_HTTP_PORT: "0" })).toMatchObject([
    { state: "warning", detail: expect.stringContaining("overrides it for now"), ...file },
  ])
})

test("a good file and a good variable are good", async () => {
  writeFileSync(home.config, '{ "http": { "port": 0 } }', { mode: 0o600 })
  expect(await check({ THROUGHLINE_HTTP_PORT: "0" })).toMatchObject([{ state: "good" }])
})
