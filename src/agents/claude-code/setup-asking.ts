import type { PermissionAnswer, PermissionRequest } from "../../domain/driver.ts"
import type { HookAsking, HookQuestion } from "../../domain/setup.ts"
import { contentOf, fieldsOf, type Schema } from "../shared/setup/elicitation.ts"
import { answersTo, decisionOf, permissionRequest, type Suggestion } from "./permission.ts"

type Payload = Record<string, unknown>

/** Claude Code's hooks that ask a person: for permissions, and for MCP elicitations. */
export const claudeAsking: HookAsking = {
  question(payload) {
    if (payload.hook_event_name === "PermissionRequest") return permission(payload as Payload & PermissionPayload)
    if (payload.hook_event_name === "Elicitation") return elicitation(payload as Payload & ElicitationPayload)
    return undefined
  },
  answer(payload, answer) {
    const decided =
      payload.hook_event_name === "Elicitation"
        ? elicited(payload as Payload & ElicitationPayload, answer)
        : { decision: decision(payload as Payload & PermissionPayload, answer) }
    return JSON.stringify({ hookSpecificOutput: { hookEventName: payload.hook_event_name, ...decided } })
  },
  isDone(payload, said) {
    if (payload.hook_event_name !== "PermissionRequest") return false
    const [{ tool_name: tool, tool_input: input }, { tool_name, tool_input }] = [payload, said]
    return tool === tool_name && JSON.stringify(input) === JSON.stringify(tool_input)
  },
}

interface PermissionPayload {
  tool_name?: string
  tool_input?: Payload
  permission_suggestions?: Suggestion[]
  agent_id?: string
  agent_type?: string
}

interface ElicitationPayload {
  mcp_server_name?: string
  message?: string
  mode?: string
  requested_schema?: Schema
}

function permission(payload: Payload & PermissionPayload): HookQuestion | undefined {
  const { tool_name: tool, tool_input: input = {}, permission_suggestions } = payload
  if (typeof tool !== "string") return undefined
  const subagent = payload.agent_id === undefined ? null : (payload.agent_type ?? "sub-agent")
  const request = permissionRequest(tool, input, input.description, permission_suggestions)
  return { request, subagent, isShown: subagent === null }
}

function decision(
  { tool_name = "", tool_input = {}, permission_suggestions }: PermissionPayload,
  answer: PermissionAnswer,
) {
  const unchanged = NEEDS_INPUT.has(tool_name) ? tool_input : undefined
  return decisionOf(answer, permission_suggestions, answersTo(tool_input, answer) ?? unchanged)
}

/** These ignore an answer without input. */
const NEEDS_INPUT = new Set(["ExitPlanMode"])

function elicitation({ mcp_server_name, message, requested_schema }: ElicitationPayload): HookQuestion | undefined {
  const questions = fieldsOf(requested_schema)
  if (!questions || typeof mcp_server_name !== "string") return undefined
  const request: PermissionRequest = {
    tool: mcp_server_name,
    title: message ?? mcp_server_name,
    input: { message },
    suggestions: [],
    questions,
  }
  return { request, subagent: null, isShown: false }
}

function elicited({ requested_schema }: ElicitationPayload, answer: PermissionAnswer) {
  if (answer.behavior === "deny") return { action: answer.interrupt ? "cancel" : "decline" }
  return { action: "accept", content: contentOf(requested_schema, answer.answers ?? {}) }
}
