import type { Agent } from "../../domain/agent.ts"
import { conversationLog as records } from "./records.ts"

export const conversationLog: Agent = { records: [records] }
