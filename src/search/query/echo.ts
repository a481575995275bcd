import type { Turn } from "../../domain/turn.ts"

const OWN_TOOL = /(?:^|[^a-z])(?:search_conversation_history|resume_session_context)$/
/** How our answers begin; most agents keep a result without the name of its tool. */
const OWN_ANSWER = /^\s*\{"(?:query":"(?:[^"\\]|\\.){0,200}","exchanges|context_exchanges)":\[/

/** What was asked of our own search, and answered by it: copies of what is indexed, and a question is its own best hit. */
export function isEcho({ kind, toolName, text }: Pick<Turn, "kind" | "toolName" | "text">): boolean {
  if (kind !== "tool_call" && kind !== "tool_result") return false
  return OWN_TOOL.test(toolName ?? "") || (kind === "tool_result" && OWN_ANSWER.test(text))
}
