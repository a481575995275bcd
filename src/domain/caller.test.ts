import { describe, expect, test } from "vitest"
import { knownClients } from "../agents/known-clients.ts"
import { platforms } from "../agents/list.ts"
import { clientFrom, makeClients } from "./caller.ts"

const redact = (text: string) => text.replaceAll(/ghp_\w+/g, "[redacted]")
const clients = makeClients({ platforms, others: knownClients, redact })

describe("what a program says of itself", () => {
  test.each<[said: unknown, heard: unknown]>([
    [
      { name: "cursor-vscode", version: "1.0.0" },
      { name: "cursor-vscode", version: "1.0.0" },
    ],
    [
      { name: "claude-ai (via mcp-remote 0.1.37)", version: "0.1.0" },
      { name: "claude-ai", version: "0.1.0" },
    ],
    [
      { name: "\u202eenilC\u202c\u0007\n\u200b", version: "1\u0000" },
      { name: "enilC", version: "1" },
    ],
    [
      { name: "a\n\nb", version: 7 },
      { name: "a b", version: "" },
    ],
    [
      { name: "x".repeat(100_000), version: "9".repeat(100_000) },
      { name: "x".repeat(60), version: "9".repeat(40) },
    ],
    [{ name: "\u200b \u2066" }, undefined],
    [{ name: { toString: () => "the owner" } }, undefined],
    [null, undefined],
  ])("%j is heard as %j", (said, heard) => {
    expect(clientFrom(said)).toEqual(heard)
  })
})

describe("the agents that may have sent a name", () => {
  test.each<[name: string, agents: string[]]>([
    ["claude-code", ["claude-code"]],
    ["codex-mcp-client", ["codex"]],
    ["Codex", ["codex"]],
    ["gemini-cli-mcp-client", ["gemini-cli"]],
    ["gemini-cli-mcp-client-throughline", ["gemini-cli"]],
    ["opencode", ["opencode"]],
    ["cursor-vscode", ["cursor"]],
    ["CURSOR-VSCODE", ["cursor"]],
    ["Cline", ["cline"]],
    ["cline", ["cline"]],
    ["@cline/core", ["cline"]],
    ["Roo Code", ["roo"]],
    ["Roo-Code", ["roo"]],
    ["Kilo-Code", ["kilo-legacy"]],
    ["kilo", ["kilo"]],
    ["Visual Studio Code", ["copilot-vscode"]],
    ["Visual-Studio-Code", ["copilot-vscode"]],
    ["Visual Studio Code - Insiders", ["copilot-vscode"]],
    ["github-copilot-developer", ["copilot-cli"]],
    ["antigravity-client", ["antigravity", "antigravity-ide"]],
    ["Zed", []],
    ["windsurf-client", []],
    ["Anthropic/ClaudeAI", []],
    ["claude-code-router", []],
    ["not cursor-vscode", []],
  ])("%s: %j", (name, agents) => {
    expect(clients.platformsOf(name)).toEqual(agents)
  })

  test("nobody who says nothing", () => {
    expect(clients.platformsOf(undefined)).toEqual([])
  })
})

describe("how a program is named to others", () => {
  test.each<[name: string | undefined, teams: string[], shown: string]>([
    ["cursor-vscode", [], "Cursor (unverified)"],
    ["Anthropic/ClaudeAI", [], "claude.ai (unverified)"],
    ["openai-mcp", [], "ChatGPT (unverified)"],
    ["my-script", [], "my-script (unverified)"],
    // A team of that name: the program's own word is left.
    ["cursor-vscode", ["cursor"], "cursor-vscode (unverified)"],
    ["Cursor", ["cursor"], "an unnamed client"],
    ["the owner", [], "an unnamed client"],
    ["Throughline", [], "an unnamed client"],
    ["web", ["web"], "an unnamed client"],
    ["ghp_aB3dE5fG7haB3dE5fG7h", [], "an unnamed client"],
    [undefined, [], "an unnamed client"],
  ])("%s beside teams %j: %s", (name, teams, shown) => {
    expect(clients.claimed(name, teams)).toBe(shown)
  })
})
