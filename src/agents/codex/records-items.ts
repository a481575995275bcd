import type { SkippedCapture, TurnCapture } from "../../domain/capture.ts"
import { compactionSummary } from "../../lib/compaction.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { asArray, asNumber, asObject, asString, type Json, jsonIn, skipped } from "../shared/records/jsonl.ts"
import { textOf } from "../shared/records/text.ts"

/** A turn in an item of Codex's transcript, still without its session and time. */
export type ItemDraft = Pick<TurnCapture, "kind" | "text" | "toolName" | "toolCallId" | "isError"> & { type?: never }

export function draftOf(item: Json): ItemDraft | SkippedCapture {
  const type = asString(item.type) ?? ""
  const call = typeof item.call_id === "string" ? { toolCallId: item.call_id } : {}
  // A migrated file has nulls for absent values.
  const calls = (toolName: string, text: unknown): ItemDraft => ({
    kind: "tool_call",
    text: typeof text === "string" ? text : JSON.stringify(text ?? {}, (_, value) => value ?? undefined),
    toolName,
    ...call,
  })
  const name = [asString(item.namespace), asString(item.name)].filter(Boolean).join(".")
  switch (type) {
    case "message":
      return message(item)
    case "agent_message":
      return { kind: "prompt", text: textOf(item.content) }
    case "reasoning": {
      const text = [textOf(item.summary), textOf(item.content)].filter(Boolean).join("\n\n")
      return text ? { kind: "reasoning", text } : skipped("encrypted reasoning")
    }
    case "function_call":
      return calls(name, item.arguments)
    case "custom_tool_call":
      return calls(name, item.input)
    case "local_shell_call":
    case "web_search_call":
      return calls(type.slice(0, -"_call".length), item.action)
    case "tool_search_call":
      return calls("tool_search", item.arguments)
    case "image_generation_call":
      return calls("image_generation", item.revised_prompt)
    case "function_call_output":
    case "custom_tool_call_output":
      return { kind: "tool_result", ...outputOf(item.output), ...call }
    default:
      return skipped(`item:${type}`, !/^(tool_search_output|.*compaction.*|ghost_snapshot)$/.test(type))
  }
}

function message({ role, content }: Json): ItemDraft | SkippedCapture {
  if (role !== "user" && role !== "assistant") return skipped(`role:${role}`)
  const parts = typeof content === "string" ? [{ text: content }] : asArray(content)
  const text = role === "user" ? saidIn(parts) : textOf(parts)
  if (text.trim() === "") return skipped(role === "user" ? "context" : "empty")
  const summary = role === "user" ? compactionSummary(text) : undefined
  if (summary !== undefined) return summary === "" ? skipped("context") : { kind: "summary", text: summary }
  return { kind: role === "user" ? "prompt" : "reply", text }
}

function saidIn(parts: unknown[]): string {
  const texts = parts.map((part) => withoutInjected(textOf([part])))
  return texts.filter((text) => text !== "" && !isContext(text)).join("\n")
}

/** Context that the client adds as the user; also the tags around an attached image. */
function isContext(text: string): boolean {
  const trimmed = text.trim()
  const mark = /^<(\/?[A-Za-z_]+)[^>]*>/.exec(trimmed)?.[1] ?? ""
  if (/^\/?(image|audio)$/.test(mark)) return trimmed.indexOf(">") === trimmed.length - 1
  if (CONTEXT.has(mark) || mark.startsWith("external_")) return trimmed.endsWith(`</${mark}>`)
  return trimmed.startsWith("# AGENTS.md instructions") && trimmed.endsWith("</INSTRUCTIONS>")
}

const CONTEXT = new Set(
  `environment_context user_instructions INSTRUCTIONS skill user_shell_command user_action turn_aborted hook_prompt
  subagent_notification recommended_plugins goal_context codex_internal_context`.split(/\s+/),
)

function outputOf(output: unknown): Pick<ItemDraft, "text" | "isError"> {
  const text = textOf(asObject(output)?.content ?? output)
  const told = /^(?:Exit code: |[\s\S]{0,200}?\nProcess exited with code )(\d+)/.exec(text)?.[1]
  // Old versions wrapped a command's output in JSON.
  const wrapped = text.startsWith('{"output":') ? jsonIn(text) : undefined
  const isError = (asNumber(asObject(wrapped?.metadata)?.exit_code) ?? Number(told ?? 0)) !== 0
  return { text: asString(wrapped?.output) ?? text, ...(isError && { isError }) }
}
