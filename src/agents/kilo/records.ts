import { opencodeLike } from "../shared/opencode/records.ts"
import { rooLike } from "../shared/records/task-folders.ts"

/** Since 2026 Kilo is based on opencode and stores its sessions the same way. */
export const kilo = opencodeLike({
  id: "kilo",
  label: "Kilo",
  verified: "7.0.1",
  command: "kilo",
  databaseVariable: "KILO_DB",
  databases: /^(kilo|opencode)[^/]*\.db$/,
})

/** The older extension was based on Roo Code; its sessions count as another agent's. */
export const kiloLegacy = rooLike({
  id: "kilo-legacy",
  label: "Kilo Code",
  verified: "April 2026",
  extension: "kilocode.kilo-code",
})
