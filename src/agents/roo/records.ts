import { rooLike } from "../shared/records/task-folders.ts"

export const roo = rooLike({
  id: "roo",
  label: "Roo Code",
  verified: "April 2026",
  extension: "rooveterinaryinc.roo-cline",
})
