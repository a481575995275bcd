import { join } from "node:path"
import { createClaudeCodeDriver } from "../../../src/agents/claude-code/driver.ts"
import { agents, CLAUDES, type ClaudeName, claudeEnv } from "../../fixtures/agents.ts"
import { realHome } from "../../fixtures/driven.ts"
import { anthropicMessages, toolUse } from "../../fixtures/model-api.ts"
import { driverContract } from "../driver.ts"

export const claudeHome = (name: ClaudeName) =>
  realHome({
    wire: anthropicMessages,
    program: agents.claude(name),
    runs: (command) => toolUse("Bash", { command, description: "as told" }),
    env: (home, modelUrl) => claudeEnv(home, modelUrl, join(home.env.HOME!, "work")),
  })

/** A file for each version: one of them alone takes half a minute. */
export const claudeContract = (name: ClaudeName) =>
  driverContract(`Claude Code ${CLAUDES.find((claude) => claude.name === name)!.version}`, {
    driver: createClaudeCodeDriver(),
    home: () => claudeHome(name),
    shell: { tool: "Bash", input: (command) => ({ command }) },
  })
