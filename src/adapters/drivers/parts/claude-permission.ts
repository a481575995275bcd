import type { PermissionAnswer, PermissionRequest } from "../../../domain/driver.ts"

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

interface Suggestion {
  type: string
  behavior?: string
  destination?: string
  mode?: string
  directories?: string[]
  rules?: { toolName: string; ruleContent?: string }[]
}

export function question(request: CanUseTool): PermissionRequest {
  const { tool_name, input, description, permission_suggestions = [] } = request
  return {
    tool: tool_name,
    input,
    title: description ? `${tool_name}: ${description}` : tool_name,
    suggestions: permission_suggestions.map((value) => ({ label: labelOf(value), value })),
  }
}

/** The one chosen rule goes back and no other: all of them together would open more than was meant. */
export function allowed({ input, permission_suggestions = [] }: CanUseTool, word: Allowed): object {
  const { always, updatedInput = input } = word
  const rule = always === undefined ? undefined : permission_suggestions[always]
  return { behavior: "allow", updatedInput, ...(rule ? { updatedPermissions: [rule] } : {}) }
}

type Allowed = Extract<PermissionAnswer, { behavior: "allow" }>

export const denied = ({ message }: { message: string }): object => ({ behavior: "deny", message })

function labelOf({ type, behavior = "allow", destination, mode, directories = [], rules = [] }: Suggestion): string {
  const where = destination === undefined ? "" : ` (${destination})`
  if (type === "setMode") return `permission mode ${mode}${where}`
  if (type === "addDirectories") return `${behavior} ${directories.join(", ")}${where}`
  const named = rules.map(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : toolName))
  return `${behavior} ${named.join(", ") || type}${where}`
}
