import { opencodeLike } from "../shared/opencode/records.ts"

export const opencode = opencodeLike({
  id: "opencode",
  label: "opencode",
  verified: "2.0.15",
  command: "opencode",
  databaseVariable: "OPENCODE_DB",
  databases: /^opencode[^/]*\.db$/,
})
