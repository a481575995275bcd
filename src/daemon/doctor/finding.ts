import type { SystemFinding } from "../../operations/system.ts"

const finding = (state: "warning" | "wrong") => (check: string, detail: string, remedy: string) =>
  ({ check, state, detail, remedy }) satisfies SystemFinding

export const good = (check: string, detail: string): SystemFinding => ({ check, state: "good", detail })
export const warning = finding("warning")
export const wrong = finding("wrong")
