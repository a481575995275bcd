import { createOpencodeDriver } from "../../../src/agents/opencode/driver.ts"
import { agents, opencodeEnv } from "../../fixtures/agents.ts"
import { realHome } from "../../fixtures/driven.ts"
import { toolUse } from "../../fixtures/model-api.ts"
import { openaiChat } from "../../fixtures/model-api-chat.ts"
import { driverContract } from "../driver.ts"

driverContract("opencode", {
  driver: createOpencodeDriver(),
  home: () =>
    realHome({
      wire: openaiChat,
      program: agents.opencode(),
      runs: (command) => toolUse("bash", { command, description: "as told" }),
      env: opencodeEnv,
    }),
  shell: { tool: "execute", input: (command) => ({ command }) },
  // It ends the turn; the model reads of it with the next prompt.
  denial: /^done $/,
})
