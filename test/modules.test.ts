import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

const project = fileURLToPath(new URL("..", import.meta.url))
const SLOW_MS = 120_000
const MAX_LINES = 300

/** Words that may stand in few places only, because what they reach must be reached in few places only. */
const confined: { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: "the environment",
    pattern: /\bprocess\s*\??\.\s*env\b|\bprocess\[|from "node:process"/,
    allowed: /^src\/daemon\/process\/environment\.ts$/,
  },
  { what: "console", pattern: /(?<!agent-|\/)\bconsole\s*\??\./, allowed: /^$/ },
  {
    what: "other processes",
    pattern: /["'](?:node:)?child_process["']|["']execa["']/,
    allowed:
      /^(?:demo\/|src\/(?:daemon\/(?:commands\/(?:connect|terminal)|process\/process-identity)\.ts|adapters\/|agents\/|teams\/))/,
  },
  { what: "an import that no checker can follow", pattern: /\bimport\(\s*(?!["'`]|\/\*)|\brequire\(/, allowed: /^$/ },
]

const files = (await Array.fromAsync(glob(["src/**/*.ts", "demo/**/*.ts"], { cwd: project }))).filter(
  (file) => !file.endsWith(".test.ts"),
)

test("the files of the program are found", () => {
  expect(files.length).toBeGreaterThan(500)
})

test("every file is short, and reaches only for what it may", () => {
  expect(files.flatMap((file) => wrongWith(file, readFileSync(join(project, file), "utf8")))).toEqual([])
})

describe("what a file may not reach for is found", () => {
  test.each([
    ["the environment", "src/daemon/x.ts", "const home = process.env.HOME"],
    ["the console", "src/surfaces/x.ts", "console.log(1)"],
    ["another process", "src/sessions/x.ts", 'import { spawn } from "node:child_process"'],
    ["an import that is computed", "src/daemon/x.ts", "await import(name)"],
    ["a require", "src/daemon/x.ts", 'require("zod")'],
    ["a long file", "src/daemon/x.ts", "const a = 1\n".repeat(MAX_LINES + 1)],
  ])("%s", (_, file, source) => {
    expect(wrongWith(file, source)).toHaveLength(1)
  })

  test.each([
    ["an agent's process", "src/teams/pool.ts", 'import { spawn } from "node:child_process"'],
    ["a file of just enough lines", "src/daemon/x.ts", "const a = 1\n".repeat(MAX_LINES)],
  ])("but not %s", (_, file, source) => {
    expect(wrongWith(file, source)).toEqual([])
  })
})

test("every import is one that .dependency-cruiser.ts allows", { timeout: SLOW_MS }, async () => {
  const { violations, modules } = await cruise(project, "src", "demo")
  expect(modules).toBeGreaterThan(500)
  expect(violations).toEqual([])
})

describe("an import that is not allowed is found", () => {
  const planted: [what: string, file: string, source: string][] = [
    ["a middle module that imports another", "src/search/a.ts", 'import { a } from "../sessions/module.ts"\na()'],
    ["also over several lines", "src/search/b.ts", 'import {\n  a,\n  b,\n} from "../sessions/module.ts"\na(b)'],
    ["also as a type", "src/search/c.ts", 'import type { A } from "../sessions/module.ts"\nexport type B = A'],
    ["also when it is loaded later", "src/search/d.ts", 'export const a = await import("../sessions/module.ts")'],
    ["also for its side effects", "src/search/e.ts", 'import "../sessions/module.ts"'],
    ["also when it is passed on", "src/search/f.ts", 'export { a } from "../sessions/module.ts"'],
    ["a module that reaches up", "src/domain/a.ts", 'import { a } from "../store/open.ts"\na()'],
    ["a surface that opens the store", "src/surfaces/a.ts", 'import { a } from "../store/open.ts"\na()'],
    ["an operation with a module's code", "src/operations/a.ts", 'import { a } from "../sessions/module.ts"\na()'],
    ["a package of another module", "src/sessions/a.ts", 'import { sql } from "kysely"\nsql``'],
    ["the disk in the domain", "src/domain/b.ts", 'import { readFileSync } from "node:fs"\nreadFileSync("a")'],
    ["a file outside of the program", "src/daemon/a.ts", 'import { a } from "../../test/promises.ts"\na()'],
    ["a test's code in the program", "src/daemon/b.ts", 'import { a } from "./log.test.ts"\na()'],
    ["a module that is not in the table", "src/utils/a.ts", 'import { a } from "../domain/ids.ts"\na()'],
    ["an agent that imports another", "src/agents/one/a.ts", 'import { a } from "../two/records.ts"\na()'],
    ["a file that is not there", "src/daemon/c.ts", 'import { a } from "./gone.ts"\na()'],
    ["a cycle", "src/lib/a.ts", 'import { b } from "./b.ts"\nexport const a = () => b()'],
  ]
  const allowed: typeof planted = [
    ["its own module", "src/search/g.ts", 'import { a } from "./h.ts"\na()'],
    ["the domain", "src/search/i.ts", 'import { a } from "../domain/ids.ts"\na()'],
    [
      "types for an operation",
      "src/operations/b.ts",
      'import type { A } from "../sessions/module.ts"\nexport type B = A',
    ],
    ["a part of a package", "src/store/a.ts", 'import { Migrator } from "kysely/migration"\nnew Migrator()'],
    ["ids in the domain", "src/domain/ids.ts", 'import { randomUUID } from "node:crypto"\nexport const a = randomUUID'],
    ["what agents share", "src/agents/one/b.ts", 'import { a } from "../shared/records.ts"\na()'],
  ]
  const others = [
    "sessions/module",
    "store/open",
    "daemon/log.test",
    "agents/two/records",
    "agents/shared/records",
    "search/h",
  ]

  let found: { file: string }[]
  const dir = mkdtempSync(join(tmpdir(), "throughline-modules-"))
  beforeAll(async () => {
    const write = (file: string, source: string) => {
      mkdirSync(dirname(join(dir, file)), { recursive: true })
      writeFileSync(join(dir, file), source)
    }
    for (const name of others)
      write(`src/${name}.ts`, "export const a = () => 1\nexport const b = 1\nexport type A = 1\n")
    write("test/promises.ts", "export const a = () => 1\n")
    write("src/lib/b.ts", 'import { a } from "./a.ts"\nexport const b = () => a()\n')
    for (const [, file, source] of [...planted, ...allowed]) write(file, source)
    for (const name of ["package.json", "tsconfig.json"]) write(name, readFileSync(join(project, name), "utf8"))
    symlinkSync(join(project, "node_modules"), join(dir, "node_modules"))
    found = (await cruise(dir, "src")).violations
  }, SLOW_MS)
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test.each(planted)("%s", (_, file) => {
    expect(found.filter((one) => one.file === file)).not.toEqual([])
  })
  test.each(allowed)("but not %s", (_, file) => {
    expect(found.filter((one) => one.file === file)).toEqual([])
  })
})

function wrongWith(file: string, source: string): string[] {
  const words = confined
    .filter(({ pattern, allowed }) => pattern.test(source) && !allowed.test(file))
    .map(({ what }) => `${file}: reaches for ${what}`)
  const lines = source.trimEnd().split("\n").length
  return [...words, ...(lines > MAX_LINES ? [`${file}: has ${lines} lines`] : [])]
}

async function cruise(dir: string, ...folders: string[]) {
  const bin = join(project, "node_modules", "dependency-cruiser", "bin", "dependency-cruiser.mjs")
  const words = [bin, "--config", join(project, ".dependency-cruiser.ts"), "--output-type", "json", ...folders]
  const said = await new Promise<string>((resolve, reject) => {
    // It ends with the number of violations; what it found is on stdout all the same.
    execFile(process.execPath, words, { cwd: dir, maxBuffer: 1e9 }, (error, stdout, stderr) =>
      stdout.startsWith("{") ? resolve(stdout) : reject(error ?? new Error(stderr)),
    )
  })
  const { summary } = JSON.parse(said) as {
    summary: { totalCruised: number; violations: { from: string; to: string; rule: { name: string } }[] }
  }
  return {
    modules: summary.totalCruised,
    violations: summary.violations.map(({ from, to, rule }) => ({ file: from, to, rule: rule.name })),
  }
}
