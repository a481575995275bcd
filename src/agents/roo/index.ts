import type { Agent } from "../../domain/agent.ts"
import { roo as records } from "./records.ts"

export const roo: Agent = { records: [records] }
