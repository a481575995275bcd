import { expect } from "vitest"
import { createCodexDriver } from "../../../src/adapters/drivers/codex.ts"
import { agents, codexEnv } from "../../fixtures/agents.ts"
import { realHome } from "../../fixtures/driven.ts"
import { toolUse } from "../../fixtures/model-api.ts"
import { openaiResponses } from "../../fixtures/model-api-responses.ts"
import { driverContract } from "../driver.ts"

driverContract("Codex", {
  driver: createCodexDriver(),
  home: () =>
    realHome({
      wire: openaiResponses,
      program: agents.codex(),
      runs: (command) => toolUse("exec_command", { cmd: command }),
      env: codexEnv,
    }),
  maxPromptChars: 1_048_576,
  shell: { tool: "shell", input: (command) => ({ command: expect.stringContaining(command) }) },
})
