import { join } from "node:path"
import { createClaudeCodeDriver } from "../../../src/adapters/drivers/claude-code.ts"
import { agents, CLAUDES, claudeEnv } from "../../fixtures/agents.ts"
import { realHome } from "../../fixtures/driven.ts"
import { anthropicMessages, toolUse } from "../../fixtures/model-api.ts"
import { driverContract } from "../driver.ts"

for (const { name, version } of CLAUDES)
  driverContract(`Claude Code ${version}`, {
    driver: createClaudeCodeDriver(),
    home: () =>
      realHome({
        wire: anthropicMessages,
        program: agents.claude(name),
        runs: (command) => toolUse("Bash", { command, description: "as told" }),
        env: (home, modelUrl) => claudeEnv(home, modelUrl, join(home.env.HOME!, "work")),
      }),
    shell: { tool: "Bash", input: (command) => ({ command }) },
  })
