import type { PermissionAnswer, PermissionRequest } from "../../domain/driver.ts"
import type { Item } from "./driver-turn.ts"

type Params = Record<string, unknown>

/** Codex's request as a question to a person; undefined for any other request. */
export function codexQuestion(method: string, params: Params, item: Item | undefined): PermissionRequest | undefined {
  const { reason } = params as { reason?: string | null }
  if (method === "item/commandExecution/requestApproval") {
    const { command, cwd, networkApprovalContext } = params
    const input = { command, cwd, ...(networkApprovalContext ? { networkApprovalContext } : {}) }
    return { tool: "shell", input, title: reason ?? `shell: ${command}`, suggestions: rulesIn(params) }
  }
  if (method === "item/fileChange/requestApproval") {
    const { grantRoot } = params
    const input = { changes: item?.changes, ...(grantRoot ? { grantRoot } : {}) }
    return { tool: "apply_patch", input, title: reason ?? "apply_patch", suggestions: rulesIn(params) }
  }
  if (method === "item/permissions/requestApproval") {
    const { permissions, cwd } = params
    const suggestions = [{ label: "for the whole session", value: "session" }]
    return { tool: "permissions", input: { permissions, cwd }, title: reason ?? "more permissions", suggestions }
  }
  if (method === "mcpServer/elicitation/request" && isToolApproval(params)) {
    const { serverName, message, _meta } = params as { serverName: string; message?: string; _meta: Params }
    const input = (_meta.tool_params ?? {}) as Params
    return { tool: serverName, input, title: message ?? serverName, suggestions: [] }
  }
  return undefined
}

export function codexAnswer(
  method: string,
  params: Params,
  answer: PermissionAnswer,
  { suggestions }: PermissionRequest,
): object {
  const isAllowed = answer.behavior === "allow"
  const rule = isAllowed && answer.always !== undefined ? suggestions[answer.always]?.value : undefined
  if (method === "item/permissions/requestApproval")
    return { permissions: isAllowed ? params.permissions : {}, scope: rule ?? "turn" }
  if (method === "mcpServer/elicitation/request")
    return { action: isAllowed ? "accept" : "decline", content: isAllowed ? {} : null }
  if (!isAllowed) return { decision: answer.interrupt ? "cancel" : "decline" }
  return { decision: rule ?? "accept" }
}

type Decision = string | { acceptWithExecpolicyAmendment?: { execpolicy_amendment: string[] } }

/** The available decisions that apply for longer than this one call. */
function rulesIn(params: Params): PermissionRequest["suggestions"] {
  const { availableDecisions = ["acceptForSession"] } = params as { availableDecisions?: Decision[] | null }
  return (availableDecisions ?? []).flatMap((decision) => {
    if (decision === "acceptForSession") return [{ label: "the same for the whole session", value: decision }]
    const prefix = typeof decision === "object" ? decision.acceptWithExecpolicyAmendment : undefined
    if (!prefix) return []
    return [{ label: `commands that start with ${prefix.execpolicy_amendment.join(" ")}`, value: decision }]
  })
}

/** Approvals of MCP tools come as elicitations of the server. */
function isToolApproval({ _meta }: Params): boolean {
  return (_meta as Params | null)?.codex_approval_kind === "mcp_tool_call"
}
