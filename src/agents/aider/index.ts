import type { Agent } from "../../domain/agent.ts"
import { aider as records } from "./records.ts"

export const aider: Agent = { records: [records] }
