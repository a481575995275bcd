import type { SkippedCapture, TurnCapture } from "../../domain/capture.ts"
import { bareSummary, compactionSummary } from "../../lib/compaction.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { asArray, asObject, asString, type Json, skipped } from "../shared/records/jsonl.ts"
import { textOf } from "../shared/records/text.ts"

/** A turn in a message of Claude Code, still without its session and time. */
export type MessageDraft = Omit<TurnCapture, "type" | "sessionId" | "nativeId"> & { nativeId?: string; type?: never }

export function said(record: Json, message: Json): (MessageDraft | SkippedCapture)[] {
  if (record.isCompactSummary === true) return [summaryOf(bareSummary(withoutInjected(textOf(message.content))))]
  if (isUnsaid(record.origin)) return [skipped("unsaid")]
  return blocksOf(message).map((block) => {
    if (block.type === "tool_result") return toolResult(block)
    return block.type === "text" ? typed(asString(block.text) ?? "") : skipped(`block:${block.type}`)
  })
}

const summaryOf = (text: string): MessageDraft | SkippedCapture =>
  text === "" ? skipped("empty") : { kind: "summary", text }

/** The only record of a prompt that was sent during a turn. */
export function queuedPrompt(attachment: Json | undefined): MessageDraft | undefined {
  if (attachment?.type !== "queued_command" || attachment.isMeta === true || isUnsaid(attachment.origin))
    return undefined
  if (attachment.carriedByCompaction === true || (attachment.commandMode ?? "prompt") !== "prompt") return undefined
  const draft = typed(textOf(attachment.prompt))
  const nativeId = asString(attachment.source_uuid)
  return draft.type ? undefined : { ...draft, ...(nativeId && { nativeId }) }
}

function isUnsaid(origin: unknown): boolean {
  return /^(task-notification|auto-continuation|plugin|unclassified)$/.test(asString(asObject(origin)?.kind) ?? "")
}

/** The person's words, without the tags that the client puts around commands. */
function typed(whole: string): MessageDraft | SkippedCapture {
  const text = withoutInjected(whole)
  if (text === "" && whole !== "") return skipped("context")
  // Older versions do not mark summaries.
  const summary = compactionSummary(text)
  if (summary !== undefined) return summaryOf(summary)
  const mark = /^\s*<([a-z][a-z_-]*)>/.exec(text)?.[1] ?? ""
  const inside = (name: string) => text.split(`<${name}>`)[1]?.split(`</${name}>`)[0] ?? ""
  if (mark === "bash-stdout" || mark === "bash-stderr") return { kind: "tool_result", text, toolName: "bash" }
  if (mark === "bash-input") return { kind: "prompt", text: `! ${inside(mark)}` }
  if (mark.startsWith("command-") && inside("command-name"))
    return { kind: "prompt", text: `${inside("command-name")} ${inside("command-args")}`.trim() }
  if (/^(local-command-|ide_|task-notification$)/.test(mark)) return afterTag(text, mark)
  if (text.startsWith("[Request interrupted by user")) return skipped("interrupted")
  return text.trim() === "" ? skipped("empty") : { kind: "prompt", text }
}

/** A person's words may follow the tag; text after a notification is Claude Code's own. */
function afterTag(text: string, mark: string): MessageDraft | SkippedCapture {
  const said = text.slice(text.lastIndexOf(`</${mark}>`) + mark.length + 3)
  const isClosed = text.includes(`</${mark}>`)
  if (!isClosed || mark === "task-notification" || said.trim() === "") return skipped(`mark:${mark}`)
  return { kind: "prompt", text: withoutInjected(text, (name) => name === mark) }
}

export function answered(message: Json): (MessageDraft | SkippedCapture)[] {
  const model = typeof message.model === "string" ? { model: message.model } : {}
  return blocksOf(message).map((block) => {
    const type = asString(block.type) ?? ""
    if (type.endsWith("tool_use")) {
      const [toolName, toolCallId] = [asString(block.name) ?? "", asString(block.id) ?? ""]
      return { kind: "tool_call", text: JSON.stringify(block.input ?? {}), toolName, toolCallId, ...model }
    }
    if (type.endsWith("tool_result")) return toolResult(block)
    const text = asString(type === "thinking" ? block.thinking : block.text)
    if (type !== "text" && type !== "thinking") return skipped(`block:${type}`, type !== "redacted_thinking")
    return text ? { kind: type === "text" ? "reply" : "reasoning", text, ...model } : skipped(`empty ${type}`)
  })
}

function toolResult({ tool_use_id: id, content, is_error: isError }: Json): MessageDraft {
  const toolCallId = asString(id)
  return {
    kind: "tool_result",
    text: textOf(content),
    ...(toolCallId && { toolCallId }),
    ...(isError === true && { isError }),
  }
}

function blocksOf({ content }: Json): Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return asArray(content).map((block) => asObject(block) ?? {})
}
