import { createClaudeCodeDriver } from "../../../src/agents/claude-code/driver.ts"
import { fakeHome } from "../../fixtures/driven.ts"
import { driverContract } from "../driver.ts"

const shell = { tool: "Bash", input: (command: string) => ({ command }) }

for (const version of ["2.1.197", "2.1.325"])
  driverContract(`the fake agent in the manner of Claude Code ${version}`, {
    driver: createClaudeCodeDriver(),
    home: () => fakeHome(version),
    shell,
    hasTools: false,
  })
