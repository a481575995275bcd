import { existsSync, readdirSync, readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { pages } from "../scripts/reference.ts"
import { platforms } from "../src/agents/list.ts"
import { type FailureCode, failures } from "../src/domain/failure.ts"

const project = fileURLToPath(new URL("..", import.meta.url))
const read = (path: string) => readFileSync(join(project, path), "utf8")

/** The cells of every table row, without heads and rules. */
function rows(markdown: string): string[][] {
  const lines = markdown.split("\n")
  const isRule = (line: string | undefined) => /^\|[-| ]+\|$/.test(line ?? "")
  return lines
    .filter((line, index) => line.startsWith("|") && !isRule(line) && !isRule(lines[index + 1]))
    .map((line) =>
      line
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    )
}

test("the comparison counts the agents that are read: each once, and our own log is none", () => {
  // Kilo kept its conversations in two places, one after the other.
  const agents = platforms.filter(({ id }) => id !== "conversation-log" && id !== "kilo-legacy")
  expect(read("docs/comparison.md")).toContain(`every turn, of ${agents.length} agents`)
})

describe("docs/failures.md", () => {
  const documented = new Map(rows(read("docs/failures.md")).map(([code, ...rest]) => [code!.replaceAll("`", ""), rest]))
  const codes = Object.keys(failures) as FailureCode[]

  test("has every code, in the order of the table, and no other", () => {
    expect([...documented.keys()]).toEqual(codes)
  })

  test.each(codes)("says of %s what the table says", (code) => {
    const { http, exit, retry, help } = failures[code]
    const [when, todo, ...numbers] = documented.get(code) ?? []
    expect([todo, ...numbers]).toEqual([help, String(http), String(exit), retry ? "yes" : "no"])
    expect(when).toMatch(/^[A-Z].+\.$/)
  })
})

describe("docs/adr", () => {
  const files = readdirSync(join(project, "docs/adr")).sort()

  test("is numbered without a gap", () => {
    expect(files.map((file) => Number(file.slice(0, 4)))).toEqual(files.map((_, index) => index + 1))
  })

  test.each(files)("%s is short: context, decision, consequences", (file) => {
    const text = read(`docs/adr/${file}`)
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(30)
    expect(text.startsWith(`# ${file.slice(0, 4)} `)).toBe(true)
    expect(text.match(/^## .*$/gm)).toEqual(["## Context", "## Decision", "## Consequences"])
  })
})

test("links between documents lead somewhere", async () => {
  const documents = await Array.fromAsync(glob(["*.md", "docs/**/*.md", "changes/*.md"], { cwd: project }))
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!\w+:|#)([^)#]+)/g)]
      .map((match) => match[1]!)
      .filter((target) => !existsSync(join(project, dirname(document), target)))
      .map((target) => `${document}: ${target}`),
  )
  expect(broken).toEqual([])
})

test("files and folders that the documents name exist", async () => {
  const documents = ["CONTRIBUTING.md", ...(await Array.fromAsync(glob("docs/*.md", { cwd: project })))]
  const named = documents.flatMap((document) =>
    [...read(document).matchAll(/`((?:src|test|docs|scripts|bench)\/[\w./-]+)`/g)].map((match) => match[1]!),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((path) => !existsSync(join(project, path)))).toEqual([])
})

test.each(Object.keys(pages))("%s says what the program says of itself (node scripts/reference.ts)", (path) => {
  expect(read(path)).toBe(pages[path]!())
})
