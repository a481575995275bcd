import type { PermissionAnswer, PermissionRequest } from "../../domain/driver.ts"
import { answersTo, questionsIn, type Suggestion, suggestionLabel } from "./permission.ts"

export interface ControlRequest {
  request_id: string
  request: { subtype: string }
}

/** Claude Code's request, with the rules that it suggests. */
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

/** Return only the chosen rule: all of them together would allow more than the person meant. */
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
