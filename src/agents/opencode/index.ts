import type { Agent } from "../../domain/agent.ts"
import { opencode as records } from "./records.ts"
import { opencode as setup } from "./setup.ts"

export const opencode: Agent = {
  records: [records],
  setup,
  handoffTarget: { platform: "opencode", begin: ["opencode", "--prompt"] },
  loadDriver: async () => (await import("./driver.ts")).createOpencodeDriver(),
}
