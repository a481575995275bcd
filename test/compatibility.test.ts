import { existsSync, readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { type TestTitle, testTitles } from "./fixtures/test-titles.ts"
import { promises } from "./promises.ts"

const project = fileURLToPath(new URL("..", import.meta.url))
const PAGE = "docs/compatibility.md"
/** How many things each program had. A row may be split, and none goes. */
const HAD = { Thoughtbox: 48, "praxis-os": 81, "Nexus bridge": 60, "claude-telegram-mirror": 54, Iris: 100 }

interface Row {
  line: number
  cells: string[]
}

/** Every row of every table, without heads and rules. A `\|` is part of its cell. */
function rowsOf(markdown: string): Row[] {
  const lines = markdown.split("\n")
  const isRule = (line: string | undefined) => /^\|[-:| ]+\|$/.test(line ?? "")
  return lines.flatMap((line, index) =>
    line.startsWith("|") && !isRule(line) && !isRule(lines[index + 1])
      ? [
          {
            line: index + 1,
            cells: line
              .slice(1, -1)
              .split(/(?<!\\)\|/)
              .map((cell) => cell.trim()),
          },
        ]
      : [],
  )
}

const PROOF = /\[((?:\\.|[^\\\]])+)\]\(([^)\s]+)\)/g
/** Two are compared as they are read: without the signs that keep Markdown from taking a title for markup. */
const unescaped = (title: string) => title.replace(/\\([\\`*_[\]<>|~])/g, "$1")

/** Everything that is wrong with a page. `titlesIn` has the tests of a file, or nothing where there is no such file. */
function troubles(markdown: string, titlesIn: (file: string) => TestTitle[] | undefined): string[] {
  return rowsOf(markdown).flatMap(({ line, cells }) => {
    const [had, here, status, proof, ...more] = cells
    const wrong: string[] = []
    if (!had || !here || proof === undefined || more.length > 0) wrong.push("it has not the four cells of a row")
    if (status !== "same" && !/^changed: \S.{8,}/.test(status ?? ""))
      wrong.push(`"${status}" is neither "same" nor "changed:" with a reason`)
    const links = [...(proof ?? "").matchAll(PROOF)].map(([, title, target]) => ({ title: unescaped(title!), target }))
    if (links.length === 0) wrong.push("no test proves it")
    for (const { title, target } of links) {
      const file = posix.join(posix.dirname(PAGE), target!)
      const titles = titlesIn(file)
      if (!titles) {
        wrong.push(`there is no test file ${file}`)
        continue
      }
      const meant = titles.filter(({ path }) => path.some((_, from) => path.slice(from).join(" › ") === title))
      if (meant.length === 0) wrong.push(`${file} has no test "${title}"`)
      if (meant.length > 1) wrong.push(`${file} has ${meant.length} tests "${title}": name the describe, with " › "`)
      if (meant.some(({ skipped }) => skipped)) wrong.push(`${file}: "${title}" is skipped`)
    }
    return wrong.map((what) => `${PAGE}:${line}: ${what}`)
  })
}

/** Sources that Vitest runs, and the suites of test/ that these import. */
const suites = new Set<string>()
function take(file: string): void {
  if (suites.has(file) || !existsSync(`${project}/${file}`)) return
  suites.add(file)
  if (!file.startsWith("test/")) return
  for (const [, from] of readFileSync(`${project}/${file}`, "utf8").matchAll(/from "(\.[^"]+)"/g)) {
    const imported = posix.join(posix.dirname(file), from!)
    if (imported.startsWith("test/")) take(imported)
  }
}
const runs = { cwd: project, exclude: ["**/node_modules/**", "test/agents/**"] }
for await (const file of glob(["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts"], runs)) take(file)

const parsed = new Map<string, TestTitle[] | undefined>()
function titlesIn(file: string): TestTitle[] | undefined {
  if (!parsed.has(file)) {
    parsed.set(file, suites.has(file) ? testTitles(readFileSync(`${project}/${file}`, "utf8")) : undefined)
  }
  return parsed.get(file)
}

describe(PAGE, () => {
  const page = readFileSync(`${project}/${PAGE}`, "utf8")

  test("names for every row a test that is there and runs, and a reason for every change", () => {
    expect(troubles(page, titlesIn)).toEqual([])
  })

  test("has each program's table, and each of them is whole", () => {
    const counts = page
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split("\n")[0], rowsOf(section).length] as const)
      .filter(([, rows]) => rows > 0)
    expect(counts.map(([program]) => program)).toEqual(Object.keys(HAD))
    for (const [program, rows] of counts) expect(rows, program).toBeGreaterThanOrEqual(HAD[program as keyof typeof HAD])
  })
})

describe("the check of the page", () => {
  const tests: TestTitle[] = [
    { path: ["a daemon", "starts"], skipped: false },
    { path: ["a queue", "starts"], skipped: false },
    { path: ["waits [long] | or not"], skipped: false },
    { path: ["never"], skipped: true },
  ]
  const row = (status: string, proof: string) =>
    `| You had | Here | | Proof |\n|---|---|---|---|\n| a | b | ${status} | ${proof} |`
  const check = (status: string, proof: string) =>
    troubles(row(status, proof), (file) => (file === "test/x.test.ts" ? tests : undefined))

  test.each([
    ["a row without a test", "same", "", "no test proves it"],
    ["a file that is not there", "same", "[never](../test/y.test.ts)", "there is no test file test/y.test.ts"],
    ["a title that is not there", "same", "[stops](../test/x.test.ts)", 'test/x.test.ts has no test "stops"'],
    ["a part of a title", "same", "[start](../test/x.test.ts)", 'test/x.test.ts has no test "start"'],
    ["a title that two have", "same", "[starts](../test/x.test.ts)", "has 2 tests"],
    ["a test that is skipped", "same", "[never](../test/x.test.ts)", '"never" is skipped'],
    ["a change without a reason", "changed:", "[a queue › starts](../test/x.test.ts)", 'nor "changed:" with a reason'],
    ["no status", "", "[a queue › starts](../test/x.test.ts)", "is neither"],
  ])("finds %s", (_, status, proof, trouble) => {
    expect(check(status, proof)).toEqual([expect.stringContaining(trouble)])
  })

  test("takes a row as it should be, with signs that Markdown wants escaped", () => {
    expect(check("same", "[a daemon › starts](../test/x.test.ts)")).toEqual([])
    expect(check("changed: it was ambiguous", "[waits \\[long\\] \\| or not](../test/x.test.ts)")).toEqual([])
  })

  test("reads titles off the syntax: what a comment or a string says is no test", () => {
    const source = `
      // test("in a comment", () => {})
      const text = 'test("in a string", () => {})'
      describe(\`\${hint} the daemon \${proves(${JSON.stringify("recovery.pinned")})}\`, () => {
        test.each([1])("counts %s", () => {})
        test.skipIf(process.platform === "darwin")("on Linux", () => {})
        describe.skip("later", () => { it("works", () => {}) })
      })`
    expect(testTitles(source)).toEqual([
      { path: [`… the daemon ${promises["recovery.pinned"]}`, "counts %s"], skipped: false },
      { path: [`… the daemon ${promises["recovery.pinned"]}`, "on Linux"], skipped: false },
      { path: [`… the daemon ${promises["recovery.pinned"]}`, "later", "works"], skipped: true },
    ])
  })
})
