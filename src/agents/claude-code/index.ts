import type { Agent } from "../../domain/agent.ts"
import { claudeCode as terminal } from "./console.ts"
import { claudeCode as handoffTarget } from "./handoff.ts"
import { claudeCode as records } from "./records.ts"
import { claudeCode as setup } from "./setup.ts"

export const claudeCode: Agent = {
  records: [records],
  console: terminal,
  setup,
  handoffTarget,
  loadDriver: async () => (await import("./driver.ts")).createClaudeCodeDriver(),
}
