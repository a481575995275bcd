import { expect, test } from "vitest"
import { claudeCode as writer } from "../../../src/agents/claude-code/handoff.ts"
import { claudeCode as platform } from "../../../src/agents/claude-code/records.ts"
import type { Machine } from "../../../src/domain/platform.ts"
import { handoffTargetContract } from "../handoff-target.ts"

handoffTargetContract(writer, platform, (sessionId, text, timestamp) => ({
  type: "user",
  uuid: "u9",
  parentUuid: null,
  sessionId,
  timestamp,
  message: { role: "user", content: text },
}))

const pathIn = (cwd: string, env: Machine["env"] = {}) =>
  writer.session(
    {
      id: "1",
      from: { platform: "codex", nativeId: "x" },
      title: "",
      cwd,
      gitBranch: null,
      agentVersion: null,
      atMs: 1,
      messages: [],
    },
    { os: "linux", homeDir: "/home/a", env },
  ).path

test("the file lies where Claude Code looks for it, also when the folder's name is long", () => {
  expect(pathIn("/no/My.proj_v1.2 é")).toBe("/home/a/.claude/projects/-no-My-proj-v1-2--/1.jsonl")
  // Names as Claude Code itself gave them.
  const long = (top: string) =>
    [top, ...Array.from({ length: 6 }, (_, index) => `a-long-folder-name-of-forty-characters-${index}`)].join("/")
  expect(pathIn(long("/tmp/tl-4McNuA"))).toMatch(/-a-long-folder-name-of-9kalnl\/1\.jsonl$/)
  expect(pathIn(long("/tmp/tl-tGsysV"))).toMatch(/-a-long-folder-name-of-cvc837\/1\.jsonl$/)
  expect(pathIn("/w", { CLAUDE_CONFIG_DIR: " /c , /d" })).toBe("/c/projects/-w/1.jsonl")
})
