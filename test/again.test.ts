import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { runVendorJourneysTwice, SECOND_RUNS_FILE } from "../scripts/again.ts"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs")

// Inside the project, where a test finds vitest.
let dir: string
beforeEach(() => {
  dir = join(ROOT, "node_modules", `.again-${process.pid}-${Date.now()}`)
  for (const folder of ["src", "test/journeys", "test/contracts", "test/fixtures"])
    mkdirSync(join(dir, folder), { recursive: true })
  writeFileSync(join(dir, "test", "fixtures", "agents.ts"), "export const agents = {}")
  writeFileSync(join(dir, "vitest.config.mjs"), "export default { test: { exclude: [] } }")
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const HEAD = `import { appendFileSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
const runs = () => { appendFileSync(import.meta.filename + ".runs", "x"); return readFileSync(import.meta.filename + ".runs").length }
`
const VENDOR = 'import { agents } from "../fixtures/agents.ts"\nvoid agents\n'
const SECOND = 'test("passes the second time", () => expect(runs()).toBe(2))'
const NEVER = 'test("never passes", () => expect(runs()).toBe(0))'
const ALWAYS = 'test("passes", () => expect(runs()).toBeGreaterThan(0))'
const put = (file: string, body: string) => writeFileSync(join(dir, file), HEAD + body)
const runsOf = (file: string) => readFileSync(join(dir, `${file}.runs`), "utf8").length
const logged = () => {
  const path = join(dir, SECOND_RUNS_FILE)
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}

const whole = () =>
  runVendorJourneysTwice(
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

const JOURNEY = "test/journeys/vendor.test.ts"

test("a vendor's journey that passes alone is named and logged, and the others are not run again", () => {
  put("src/steady.test.ts", ALWAYS)
  put(JOURNEY, VENDOR + SECOND)
  expect(whole()).toEqual({ status: 0, secondRuns: [`${JOURNEY}: passes the second time`] })
  expect([runsOf("src/steady.test.ts"), runsOf(JOURNEY)]).toEqual([1, 2])
  expect(logged()).toBe(`${JOURNEY}: passes the second time\n`)
}, 240_000)

test.each([
  ["a unit test", "src/own.test.ts", ""],
  ["a contract, even one with a vendor's program", "test/contracts/own.test.ts", VENDOR],
  ["a journey with our own simulators", "test/journeys/own.test.ts", ""],
])(
  "%s has one run",
  (_, file, head) => {
    put(file, head + SECOND)
    expect(whole()).toEqual({ status: 1, secondRuns: [] })
    expect(runsOf(file)).toBe(1)
  },
  120_000,
)

test("a vendor's journey has no second run beside a failure of our own", () => {
  put(JOURNEY, VENDOR + SECOND)
  put("src/own.test.ts", NEVER)
  expect(whole()).toEqual({ status: 1, secondRuns: [] })
  expect(runsOf(JOURNEY)).toBe(1)
}, 240_000)

test("what fails alone too has failed, and nothing is logged", () => {
  put(JOURNEY, VENDOR + NEVER)
  expect(whole()).toEqual({ status: 1, secondRuns: [] })
  expect([runsOf(JOURNEY), logged()]).toEqual([2, ""])
}, 240_000)

test("many failures have no second run", () => {
  for (let n = 0; n < 5; n++) put(`test/journeys/vendor-${n}.test.ts`, VENDOR + SECOND)
  expect(whole()).toEqual({ status: 1, secondRuns: [] })
  expect(runsOf("test/journeys/vendor-0.test.ts")).toBe(1)
}, 240_000)
