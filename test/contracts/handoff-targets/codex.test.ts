import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { codex as writer } from "../../../src/agents/codex/handoff.ts"
import { codex as platform } from "../../../src/agents/codex/records.ts"
import { handoffTargetContract } from "../handoff-target.ts"

handoffTargetContract(writer, platform, (_, text, timestamp) => ({
  timestamp,
  type: "response_item",
  payload: { type: "message", role: "user", content: [{ type: "input_text", text }] },
}))

const HANDOFF = {
  id: "0198",
  from: { platform: "codex", nativeId: "x" },
  title: "",
  cwd: "/w",
  gitBranch: null,
  agentVersion: null,
  atMs: 1_785_571_200_000,
  messages: [],
}

test.each([
  ["no settings", undefined, "openai"],
  ["settings that name none", 'model = "m"\n', "openai"],
  ["settings that cannot be read", "model_provider = \n", "openai"],
  ["a provider", 'model_provider = "loopback"\n[model_providers.loopback]\nname = "l"\n', "loopback"],
  ["a profile's provider", 'model_provider = "a"\nprofile = "p"\n[profiles.p]\nmodel_provider = "b"\n', "b"],
  ["a profile without one", 'model_provider = "a"\nprofile = "p"\n[profiles.p]\nmodel = "m"\n', "a"],
])("the session has the provider of the person's own settings: %s", (_, config, provider) => {
  const homeDir = mkdtempSync(join(tmpdir(), "codex-"))
  onTestFinished(() => rmSync(homeDir, { recursive: true }))
  mkdirSync(join(homeDir, ".codex"))
  if (config !== undefined) writeFileSync(join(homeDir, ".codex", "config.toml"), config)
  const { content } = writer.session(HANDOFF, { os: "linux", homeDir, env: {} })
  expect(JSON.parse(content.split("\n")[0]!).payload).toMatchObject({ session_id: "0198", model_provider: provider })
})

test("the file lies where Codex looks for it", () => {
  const atMs = new Date(2026, 0, 2, 3, 4, 5).getTime()
  const handoff = { ...HANDOFF, atMs }
  expect(writer.session(handoff, { os: "linux", homeDir: "/home/a", env: {} }).path).toBe(
    "/home/a/.codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-0198.jsonl",
  )
  expect(writer.session(handoff, { os: "linux", homeDir: "/home/a", env: { CODEX_HOME: "/c" } }).path).toMatch(
    /^\/c\/sessions\/2026\//,
  )
})
