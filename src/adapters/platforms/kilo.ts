import type { Platform } from "../../domain/platform.ts"
import { opencodeLike } from "./opencode.ts"

/** Since 2026 Kilo is made of opencode, and keeps what it has there; what its extension kept before is another platform. */
export const kilo: Platform = opencodeLike({
  id: "kilo",
  label: "Kilo",
  verified: "7.0.1",
  command: "kilo",
  databaseVariable: "KILO_DB",
  databases: /^(kilo|opencode)[^/]*\.db$/,
})
