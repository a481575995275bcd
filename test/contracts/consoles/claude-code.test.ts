import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { claudeCode } from "../../../src/agents/claude-code/console.ts"
import { consoleContract, plain, TEAM } from "../console.ts"

const TRUST = "Quick safety check: Is this a project you created or one you trust?"
const input = (draft: string, isStashed = false) => ({ kind: "input" as const, draft, isStashed })
const dialog = (what: string) => ({ kind: "dialog" as const, what })

consoleContract(claudeCode, {
  "claude-code-2.1.325-permission": dialog("Do you want to create x.txt?"),
  "claude-code-2.1.197-permission": dialog("Do you want to create x.txt?"),
  "claude-code-2.1.325-question": dialog("Which colour?"),
  "claude-code-2.1.197-question": dialog("Which colour?"),
  "claude-code-2.1.325-trust": dialog(TRUST),
  "claude-code-2.1.197-trust": dialog(TRUST),
  "claude-code-2.1.325-plan": dialog("Exit plan mode?"),
  "claude-code-2.1.197-plan": dialog("Exit plan mode?"),
  // The hint about queued messages is faint, but for the letter under the cursor.
  "claude-code-2.1.325-queued": input(""),
  "claude-code-2.1.197-queued": input(""),
  "claude-code-2.1.325-draft": input("half a thought"),
  "claude-code-2.1.197-draft": input("half a thought"),
  "claude-code-2.1.325-stashed": input("", true),
  "claude-code-2.1.325-commands": input("/"),
  "claude-code-2.1.197-help": input(""),
  // Words would be run there.
  "claude-code-2.1.325-shell-mode": { kind: "unknown" },
})

test("a blank in front of a command does not help since 2.1.325, so it is introduced", () => {
  expect(plain(claudeCode, "/exit")).toEqual({ text: "Message: /exit" })
  expect(plain(claudeCode, " /clear it")).toEqual({ text: "Message: /clear it" })
  expect(plain(claudeCode, "!ls")).toEqual({ text: "Message: !ls" })
  expect(plain(claudeCode, " exit ")).toEqual({ text: "Message: exit " })
  expect(plain(claudeCode, "Exit")).toEqual({ text: "Exit" })
})

test("a backslash and a file's name at the end get a blank, because Enter means something else after them", () => {
  expect(plain(claudeCode, "a\\")).toEqual({ text: "a\\ " })
  expect(plain(claudeCode, "see @src/x.ts")).toEqual({ text: "see @src/x.ts " })
  expect(plain(claudeCode, "me@example.org")).toEqual({ text: "me@example.org" })
})

test("a long paste is known by its placeholder and its number of lines", () => {
  const text = "line\n".repeat(9)
  expect(claudeCode.isDraftOf("[Pasted text #3 +9 lines]", text)).toBe(true)
  expect(claudeCode.isDraftOf("[Pasted text #3 +8 lines]", text)).toBe(false)
  expect(claudeCode.isDraftOf("[Pasted text #4]", "x".repeat(900))).toBe(true)
  expect(claudeCode.isDraftOf("and [Pasted text #4]", "x".repeat(900))).toBe(false)
  expect(claudeCode.isDraftOf("[Pasted text #1 +9 lines]", "[Pasted text #1 +9 lines]")).toBe(true)
})

test("the registry tells who is live; what is half written or not known is no reason to believe in idleness", async () => {
  const homeDir = mkdtempSync(join(tmpdir(), "registry-"))
  onTestFinished(() => rmSync(homeDir, { recursive: true }))
  const dir = join(homeDir, "chosen", "sessions")
  mkdirSync(dir, { recursive: true })
  const whole = {
    pid: 7,
    sessionId: "s7",
    cwd: "/w",
    procStart: "99",
    status: "waiting",
    waitingFor: "permission prompt",
  }
  writeFileSync(join(dir, "7.json"), JSON.stringify({ ...whole, statusUpdatedAt: 5 }))
  writeFileSync(join(dir, "8.json"), JSON.stringify({ pid: 8, sessionId: "s8", status: "dreaming" }))
  writeFileSync(join(dir, "9.json"), '{"pid":9,"sessi')
  writeFileSync(join(dir, "10.json"), "null")
  writeFileSync(join(dir, "11.json"), JSON.stringify({ pid: 11 }))
  writeFileSync(join(dir, "7.abc.key"), "secret")
  const live = await claudeCode.live({ os: "linux", homeDir, env: { CLAUDE_CONFIG_DIR: join(homeDir, "chosen") } })
  const none = {
    platform: "claude-code",
    processStart: null,
    cwd: null,
    waitingFor: null,
    statusAtMs: null,
    isUnattended: false,
  }
  expect(live.toSorted((a, b) => a.pid - b.pid)).toEqual([
    {
      platform: "claude-code",
      nativeId: "s7",
      pid: 7,
      processStart: "99",
      cwd: "/w",
      status: "waiting",
      waitingFor: "permission prompt",
      statusAtMs: 5,
      isUnattended: false,
    },
    { ...none, nativeId: "s8", pid: 8, status: "busy" },
  ])
})

test("a team's own instructions and settings go along", () => {
  const team = { ...TEAM, permissionMode: "acceptEdits", instructionsFile: "/w/web.md", settingsFile: "/w/web.json" }
  expect(claudeCode.launch({ team, resume: "s1" })).toEqual({
    argv: "claude --allowedTools mcp__throughline --permission-mode acceptEdits --settings /w/web.json --append-system-prompt-file /w/web.md --resume s1".split(
      " ",
    ),
    env: {},
  })
})
