import type { PermissionAnswer, PermissionRequest } from "../../domain/driver.ts"
import { answersTo, questionsIn, type Suggestion, suggestionLabel } from "./permission.ts"

export interface ControlRequest {
  request_id: string
  request: { subtype: string }
}

/** As Claude Code asks, with what it would take as a rule from now on. */
export interface CanUseTool {
  subtype: "can_use_tool"
  tool_name: string
  display_name?: string
  description?: string
  input: Record<string, unknown>
  permission_suggestions?: Suggestion[]
}

export function question(request: CanUseTool): PermissionRequest {
  const { tool_name, input, description, permission_suggestions = [] } = request
  return {
    tool: tool_name,
    input,
    title: description ? `${tool_name}: ${description}` : tool_name,
    suggestions: permission_suggestions.map((value) => ({ label: suggestionLabel(value), value })),
    questions: questionsIn(tool_name, input),
  }
}

/** The one chosen rule goes back and no other: all of them together would open more than was meant. */
export function allowed({ input, permission_suggestions = [] }: CanUseTool, word: Allowed): object {
  const { always } = word
  const updatedInput = answersTo(input, word) ?? input
  const rule = always === undefined ? undefined : permission_suggestions[always]
  return { behavior: "allow", updatedInput, ...(rule ? { updatedPermissions: [rule] } : {}) }
}

type Allowed = Extract<PermissionAnswer, { behavior: "allow" }>

export const denied = ({ message, interrupt }: Denied): object => ({
  behavior: "deny",
  message,
  ...(interrupt && { interrupt }),
})

type Denied = Extract<PermissionAnswer, { behavior: "deny" }>
