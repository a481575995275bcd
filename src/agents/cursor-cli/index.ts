import type { Agent } from "../../domain/agent.ts"
import { cursorCli as records } from "./records.ts"

export const cursorCli: Agent = { records: [records], successor: { platform: "cursor-cli", begin: ["cursor-agent"] } }
