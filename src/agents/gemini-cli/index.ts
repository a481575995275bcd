import type { Agent } from "../../domain/agent.ts"
import { geminiCli as records } from "./records.ts"
import { geminiCli as setup } from "./setup.ts"

export const geminiCli: Agent = {
  records: [records],
  setup,
  handoffTarget: { platform: "gemini-cli", begin: ["gemini", "-i"] },
  loadDriver: async () => (await import("./driver.ts")).createGeminiCliDriver(),
}
