import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { FileSetup } from "../../../domain/setup.ts"
import { projectRules } from "./rules.ts"

let dir: string
let cursor: FileSetup
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "rules-"))
  cursor = projectRules(dir)[0]!
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const machine = { os: "linux", homeDir: "/h", env: {} } as const
const program = { node: "", entry: "", hook: "", env: {} }
const apply = (edits: ReturnType<FileSetup["plan"]>) => {
  for (const { path, after } of edits) after === null ? rmSync(path) : writeFileSync(path, after)
}

describe("instructions in a project's rules", () => {
  test.each(["", "Use tabs.", "Use tabs.\n", "Use tabs.\n\n# More\n\n"])(
    "come after %j, once, and leave it as it was",
    (text) => {
      const path = join(dir, ".cursorrules")
      if (text !== "") writeFileSync(path, text)
      apply(cursor.plan(machine, program))
      const written = readFileSync(path, "utf8")
      expect(written.startsWith(text)).toBe(true)
      expect(written.match(/log_conversation_exchange/g)).toHaveLength(1)
      expect(cursor.plan(machine, program)).toEqual([])
      apply(cursor.remove(machine, program))
      expect(cursor.remove(machine, program)).toEqual([])
      if (text.trim() !== "") expect(readFileSync(path, "utf8").trimEnd()).toBe(text.trimEnd())
    },
  )

  test("an older wording between the marks is replaced", () => {
    const path = join(dir, ".cursorrules")
    apply(cursor.plan(machine, program))
    writeFileSync(
      path,
      `Mine.\n\n${readFileSync(path, "utf8").replace("When a conversation begins", "Formerly")}Also mine.\n`,
    )
    apply(cursor.plan(machine, program))
    const written = readFileSync(path, "utf8")
    expect(written).toContain("When a conversation begins")
    expect(written).not.toContain("Formerly")
    expect(written).toContain("Mine.")
    expect(written).toContain("Also mine.")
  })

  test.each(["claude-queue", "agents-queue"])("%s says how to deal with messages, and goes without a trace", (name) => {
    const one = projectRules(dir).find(({ platform }) => platform === name)!
    const path = join(dir, name === "claude-queue" ? "CLAUDE.md" : "AGENTS.md")
    writeFileSync(path, "# Mine\n")
    apply(one.plan(machine, program))
    const written = readFileSync(path, "utf8")
    expect(written.startsWith("# Mine\n")).toBe(true)
    for (const part of ["task_state", "[New message received:", "[Responding to:", "URGENT", "STOP"])
      expect(written).toContain(part)
    apply(one.remove(machine, program))
    expect(readFileSync(path, "utf8")).toBe("# Mine\n")
  })

  test("are never written without being named", () => {
    expect(projectRules(dir).map(({ platform, onlyNamed }) => [platform, onlyNamed])).toEqual([
      ["cursor-rules", true],
      ["cline-rules", true],
      ["claude-queue", true],
      ["agents-queue", true],
    ])
  })
})
