import type { Agent } from "../../domain/agent.ts"
import { codex as terminal } from "./console.ts"
import { codex as handoffTarget } from "./handoff.ts"
import { codex as line } from "./line.ts"
import { codexAsking as lineAsking } from "./line-asking.ts"
import { codex as records } from "./records.ts"
import { codex as setup } from "./setup.ts"

export const codex: Agent = {
  records: [records],
  console: terminal,
  setup,
  handoffTarget,
  line,
  lineAsking,
  loadDriver: async () => (await import("./driver.ts")).createCodexDriver(),
}
