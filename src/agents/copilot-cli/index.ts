import type { Agent } from "../../domain/agent.ts"
import { copilotCli as records } from "./records.ts"

export const copilotCli: Agent = {
  records: [records],
  handoffTarget: { platform: "copilot-cli", begin: ["copilot", "-i"] },
}
