import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { runTwice } from "../scripts/again.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs")

// Inside the project, where a test finds vitest.
let dir: string
beforeEach(() => {
  dir = join(ROOT, "node_modules", `.again-${process.pid}-${Date.now()}`)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, "vitest.config.mjs"), "export default { test: { exclude: [] } }")
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const HEAD = `import { appendFileSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
const runs = () => { appendFileSync(import.meta.filename + ".runs", "x"); return readFileSync(import.meta.filename + ".runs").length }
`
const SECOND = 'test("has its second day", () => expect(runs()).toBe(2))'
const NEVER = 'test("never holds", () => expect(runs()).toBe(0))'
const ALWAYS = 'test("holds", () => expect(runs()).toBeGreaterThan(0))'
const put = (name: string, body: string) => writeFileSync(join(dir, `${name}.test.mjs`), HEAD + body)
const runsOf = (name: string) => readFileSync(join(dir, `${name}.test.mjs.runs`), "utf8").length

const whole = () =>
  runTwice(
    (args) => {
      // A run inside a run would take itself for one of its workers.
      const env = Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^(?:VITEST|TEST|NODE_ENV)/.test(name)),
      )
      return spawnSync(process.execPath, [VITEST, "run", "--root", dir, ...args], { cwd: dir, env, stdio: "ignore" })
        .status!
    },
    [],
    dir,
  )

test("a file that passes alone is named, and the others are not run again", () => {
  put("steady", ALWAYS)
  put("unsteady", SECOND)
  expect(whole()).toEqual({ status: 0, unsteady: [{ file: "unsteady.test.mjs", tests: ["has its second day"] }] })
  expect([runsOf("steady"), runsOf("unsteady")]).toEqual([1, 2])
}, 60_000)

test("what fails alone too has failed, whatever else passed", () => {
  put("broken", NEVER)
  put("unsteady", SECOND)
  expect(whole()).toEqual({ status: 1, unsteady: [] })
  expect(runsOf("broken")).toBe(2)
}, 60_000)

test("many that fail are not asked twice", () => {
  for (let n = 0; n < 5; n++) put(`unsteady-${n}`, SECOND)
  expect(whole()).toEqual({ status: 1, unsteady: [] })
  expect(runsOf("unsteady-0")).toBe(1)
}, 60_000)
