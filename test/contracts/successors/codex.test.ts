import { expect, test } from "vitest"
import { codex as writer } from "../../../src/adapters/handoff/codex.ts"
import { codex as platform } from "../../../src/adapters/platforms/codex.ts"
import { successorContract } from "../successor.ts"

successorContract(writer, platform, (_, text, timestamp) => ({
  timestamp,
  type: "response_item",
  payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
}))

test("the file lies where Codex looks for it", () => {
  const atMs = new Date(2026, 0, 2, 3, 4, 5).getTime()
  const handoff = {
    id: "0198",
    from: { platform: "codex", nativeId: "x" },
    title: "",
    cwd: "/w",
    gitBranch: null,
    agentVersion: null,
    atMs,
    messages: [],
  }
  expect(writer.session(handoff, { os: "linux", homeDir: "/home/a", env: {} }).path).toBe(
    "/home/a/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-0198.jsonl",
  )
  expect(writer.session(handoff, { os: "linux", homeDir: "/home/a", env: { CODEX_HOME: "/c" } }).path).toMatch(
    /^\/c\/sessions\/2026\//,
  )
})
