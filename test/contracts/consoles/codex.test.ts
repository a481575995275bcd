import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { codex } from "../../../src/agents/codex/console.ts"
import { consoleContract, plain, TEAM } from "../console.ts"

consoleContract(codex, {
  "codex-0.166.0-permission": { kind: "dialog", what: "Reason: May I touch?" },
  "codex-0.166.0-busy": { kind: "input", draft: "", isStashed: false },
})

test("a blank in front of ! does not help, so it is introduced", () => {
  expect(plain(codex, " !ls")).toEqual({ text: "Message: !ls" })
})

test("a draft that looks like a question is a draft, as long as the footer is below it", () => {
  const lines = ["• Done.", "", "› 1. Yes", "  2. No", "", "  gpt-5 default · ~/proj", "  ? for shortcuts"]
  const cursor = { column: 7, row: 3 }
  expect(codex.screen({ lines, bright: lines, cursor })).toEqual({
    kind: "input",
    draft: "1. Yes\n2. No",
    isStashed: false,
  })
})

test("a long paste is known by its placeholder and its length", () => {
  expect(codex.isDraftOf("[Pasted Content 5000 chars]", "x".repeat(5_000))).toBe(true)
  expect(codex.isDraftOf("[Pasted Content 5000 chars]", "x".repeat(4_999))).toBe(false)
})

test("instructions are told as the developer's; what Codex does not have is refused instead of ignored", () => {
  const dir = mkdtempSync(join(tmpdir(), "codex-"))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  const instructionsFile = join(dir, "web.md")
  writeFileSync(instructionsFile, 'Be "kind".\n')
  const { argv } = codex.launch({ team: { ...TEAM, instructionsFile, permissionMode: "read-only" }, resume: "t1" })
  expect(argv).toEqual([
    ...["codex", "resume", "t1", "--ask-for-approval", "on-request", "--sandbox", "read-only"],
    ...["-c", 'developer_instructions="Be \\"kind\\".\\n"'],
  ])
  expect(() => codex.launch({ team: { ...TEAM, settingsFile: "/x" } })).toThrow("Codex takes no settings file")
  expect(() => codex.launch({ team: { ...TEAM, permissionMode: "plan" } })).toThrow("permissionMode for Codex")
})
