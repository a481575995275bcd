import { EVERYDAY_CHANGES } from "./changes-everyday.ts"
import { INTERFACE_CHANGES } from "./changes-interfaces.ts"
import { OPERATION_CHANGES } from "./changes-operations.ts"
import { SERVICE_CHANGES } from "./changes-services.ts"
import { SYSTEM_CHANGES } from "./changes-systems.ts"
import { TOOL_CHANGES } from "./changes-tools.ts"

/**
 * A change as it is asked for, made and committed, and what else is said about the same matter. `{t}` is the thing it is
 * about, `{ts}` several of them, `{T}` as part of a name. The subject says it in other words than the conversation.
 */
export interface Scenario {
  files: string[]
  symbol: string
  prompt: string
  reply: string
  code: string
  subject: string
  /** A question about the same matter that changes nothing. */
  ask: string
  answer: string
  /** A later change that builds on it. */
  follow: { prompt: string; reply: string; subject: string }
}

export const SCENARIOS: readonly Scenario[] = [
  ...SERVICE_CHANGES,
  ...OPERATION_CHANGES,
  ...INTERFACE_CHANGES,
  ...TOOL_CHANGES,
  ...SYSTEM_CHANGES,
  ...EVERYDAY_CHANGES,
]
