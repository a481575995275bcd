import type { Agent } from "../../domain/agent.ts"
import { copilotVscode as records } from "./records.ts"

export const copilotVscode: Agent = { records: [records] }
