import type { Agent } from "../../domain/agent.ts"
import { cline as records } from "./records.ts"

export const cline: Agent = { records: [records] }
