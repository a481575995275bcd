import { describe, expect, test } from "vitest"
import { activeFilters, addressWith, agentOptions, branchOptions, type Project, projectOptions } from "./filters.ts"

const project = (root: string | undefined, platforms: string[], branches: Record<string, string>): Project => ({
  ...(root !== undefined && { project: root }),
  sessions: 1,
  updatedAt: "2026-01-09",
  agents: platforms.map((platform) => ({ platform, sessions: 1 })),
  branches: Object.entries(branches).map(([branch, updatedAt]) => ({ branch, sessions: 1, updatedAt })),
})
const PROJECTS = [
  project("file:///w/shop", ["codex", "claude-code"], { main: "2026-01-05", next: "2026-01-02" }),
  project("file:///old/shop", ["codex"], { main: "2026-01-09" }),
  project("file:///w/a%20b", ["aider"], { fix: "2026-01-07" }),
  project(undefined, ["cursor"], {}),
]

describe("what can be chosen", () => {
  test("projects by name, two of the same name by their folders too, and none for what is in none", () => {
    expect(projectOptions(PROJECTS)).toEqual([
      ["file:///w/a%20b", "a b"],
      ["file:///old/shop", "shop (old)"],
      ["file:///w/shop", "shop (w)"],
    ])
  })

  test("branches of all projects or of one, those used last first and each once", () => {
    const names = (root?: string) => branchOptions(PROJECTS, root).map(([name]) => name)
    expect(names()).toEqual(["main", "fix", "next"])
    expect(names("file:///w/shop")).toEqual(["main", "next"])
    expect(names("file:///gone")).toEqual([])
  })

  test("agents by what people call them", () => {
    expect(agentOptions(PROJECTS).map(([, words]) => words)).toEqual(["Aider", "Claude Code", "Codex", "Cursor"])
  })
})

describe("the address", () => {
  test.each([
    ["takes a filter in", "q=a+b", { role: "user" }, "/search?q=a+b&role=user"],
    ["changes one", "q=a&role=user", { role: "tool" }, "/search?q=a&role=tool"],
    ["drops one", "q=a&role=user", { role: "" }, "/search?q=a"],
    ["is plain when nothing is left", "role=user", { role: "" }, "/search"],
    ["takes any letter", "", { q: "a&b=c #é" }, "/search?q=a%26b%3Dc+%23%C3%A9"],
  ] as [string, string, Record<string, string>, string][])("%s", (_, before, change, after) => {
    expect(addressWith(new URLSearchParams(before), change)).toBe(after)
  })

  test("says in words what it is kept to", () => {
    const words = (address: string) => activeFilters(new URLSearchParams(address)).map((one) => one.words)
    expect(words("q=a&days=7&role=tool&agent=codex&branch=x%2Fy&project=file%3A%2F%2F%2Fw%2Fshop")).toEqual([
      "in shop",
      "on branch x/y",
      "with Codex",
      "in tool calls",
      "in the last week",
    ])
    expect(words("q=a&role=thought")).toEqual(["in thoughts"])
    expect(words("q=a&role=&other=1")).toEqual([])
  })
})
