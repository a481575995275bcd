import type { Agent } from "../../domain/agent.ts"
import { antigravityIde as editorRecords, antigravity as records } from "./records.ts"

export const antigravity: Agent = { records: [records, editorRecords] }
