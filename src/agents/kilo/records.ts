import { opencodeLike } from "../shared/opencode/records.ts"
import { rooLike } from "../shared/records/task-folders.ts"

/** Since 2026 Kilo is made of opencode, and keeps what it has there. */
export const kilo = opencodeLike({
  id: "kilo",
  label: "Kilo",
  verified: "7.0.1",
  command: "kilo",
  databaseVariable: "KILO_DB",
  databases: /^(kilo|opencode)[^/]*\.db$/,
})

/** Before that its extension was made of Roo Code; what it kept then counts as another agent's. */
export const kiloLegacy = rooLike({
  id: "kilo-legacy",
  label: "Kilo Code",
  verified: "April 2026",
  extension: "kilocode.kilo-code",
})
