import type { Agent } from "../../domain/agent.ts"
import { cursorCli as records } from "./records.ts"

export const cursorCli: Agent = {
  records: [records],
  handoffTarget: { platform: "cursor-cli", begin: ["cursor-agent"] },
}
