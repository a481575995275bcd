import type { Agent } from "../../domain/agent.ts"
import { cursor as records } from "./records.ts"
import { cursor as setup } from "./setup.ts"

export const cursor: Agent = { records: [records], setup }
