import type { Turn } from "../../domain/turn.ts"

const OWN_TOOL = /(?:^|[^a-z])(?:search_conversation_history|resume_session_context)$/
/** The start of our answers; most agents store a result without its tool's name. */
const OWN_ANSWER = /^\s*\{"(?:query":"(?:[^"\\]|\\.){0,200}","exchanges|context_exchanges)":\[/

/** Calls of our own search tools and their results: they copy indexed text, and a query would be its own best hit. */
export function isEcho({ kind, toolName, text }: Pick<Turn, "kind" | "toolName" | "text">): boolean {
  if (kind !== "tool_call" && kind !== "tool_result") return false
  return OWN_TOOL.test(toolName ?? "") || (kind === "tool_result" && OWN_ANSWER.test(text))
}
