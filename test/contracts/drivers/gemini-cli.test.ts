import { createGeminiCliDriver } from "../../../src/agents/gemini-cli/driver.ts"
import { agents, geminiEnv } from "../../fixtures/agents.ts"
import { realHome } from "../../fixtures/driven.ts"
import { toolUse } from "../../fixtures/model-api.ts"
import { geminiContent } from "../../fixtures/model-api-gemini.ts"
import { driverContract } from "../driver.ts"

driverContract("Gemini CLI", {
  driver: createGeminiCliDriver(),
  home: () =>
    realHome({
      wire: geminiContent,
      program: agents.gemini(),
      runs: (command) => toolUse("run_shell_command", { command, description: "as told" }),
      env: geminiEnv,
    }),
  // It does not say what the tool is given; the command is the title.
  shell: { tool: "execute", input: (command) => ({ title: command }) },
  denial: /was canceled by the user/,
})
