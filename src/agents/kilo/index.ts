import type { Agent } from "../../domain/agent.ts"
import { kiloLegacy as legacyRecords, kilo as records } from "./records.ts"

export const kilo: Agent = {
  records: [records, legacyRecords],
  handoffTarget: { platform: "kilo", begin: ["kilo", "--prompt"] },
}
