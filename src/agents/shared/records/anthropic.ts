import type { Capture, SkippedCapture, TurnCapture } from "../../../domain/capture.ts"
import { withoutInjected } from "./injected.ts"
import { asArray, asObject, asString, type Json, skipped } from "./jsonl.ts"
import { digest, textOf, wellFormed } from "./text.ts"

/** A turn without session and id, which each agent adds. */
export type BlockTurn = Omit<TurnCapture, "sessionId" | "nativeId">

/** The turns of a message in the form of Anthropic's API or of the AI SDK, whose names differ. */
export function turnsOfMessage(role: unknown, content: unknown): (BlockTurn | SkippedCapture)[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : asArray(content)
  return blocks.flatMap((block) => turnsOfBlock(role, asObject(block) ?? {}))
}

const WITHOUT_TEXT = new Set(["image", "file", "media", "document", "redacted_thinking", "redacted-reasoning"])

function turnsOfBlock(role: unknown, block: Json): (BlockTurn | SkippedCapture)[] {
  const type = asString(block.type) ?? "block"
  const name = asString(block.name) ?? asString(block.toolName)
  const id = asString(block.id) ?? asString(block.tool_use_id) ?? asString(block.toolCallId)
  const tool = { ...(name !== undefined && { toolName: name }), ...(id !== undefined && { toolCallId: id }) }
  switch (type) {
    case "text":
      return textTurn(role === "user" ? "prompt" : "reply", block.text)
    case "thinking":
    case "reasoning":
      return textTurn("reasoning", block.thinking ?? block.text ?? block.reasoning)
    case "tool_use":
    case "tool-call": {
      const input = block.input ?? block.args ?? {}
      return [{ type: "turn", kind: "tool_call", text: jsonText(input), ...tool }]
    }
    case "tool_result":
    case "tool-result": {
      const isError = block.is_error === true || block.isError === true
      const text = resultText(block.content ?? block.result ?? block.output)
      return [{ type: "turn", kind: "tool_result", text, ...tool, ...(isError && { isError }) }]
    }
    default:
      return [skipped(type, !WITHOUT_TEXT.has(type))]
  }
}

function textTurn(kind: BlockTurn["kind"], text: unknown): BlockTurn[] {
  return typeof text === "string" && text.trim() !== "" ? [{ type: "turn", kind, text: wellFormed(text) }] : []
}

function resultText(content: unknown): string {
  const output = asObject(content)
  if (output) return asString(output.value) ?? jsonText(output)
  return wellFormed(textOf(content))
}

function jsonText(value: unknown): string {
  return typeof value === "string" ? wellFormed(value) : (JSON.stringify(value) ?? "")
}

/**
 * Ids for the turns of messages without ids: by content and number of occurrence. Added or removed messages change no id; a
 * rewritten message gets a new id, so that its old text is kept as superseded.
 */
export function makeNaming(): (turn: BlockTurn) => string {
  const counts = new Map<string, number>()
  return ({ kind, text, toolCallId }) => {
    const name = `${kind}:${toolCallId ?? digest(text)}`
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return count === 1 ? name : `${name}#${count}`
  }
}

/** Adds tool names to results, which only name their call. */
export function withToolNames(captures: Capture[]): Capture[] {
  const names = new Map<string, string>()
  return captures.map((capture) => {
    if (capture.type !== "turn" || capture.toolCallId === undefined) return capture
    if (capture.toolName !== undefined) names.set(capture.toolCallId, capture.toolName)
    const toolName = names.get(capture.toolCallId)
    return toolName === undefined ? capture : { ...capture, toolName }
  })
}

/**
 * The same for Cline and its forks. They wrap the person's words and the editor's state in tags, and models without native
 * tools write their calls as tags and get results as text.
 */
export function turnsOfTaggedMessage(role: unknown, content: unknown): (BlockTurn | SkippedCapture)[] {
  const turns = turnsOfMessage(role, content)
  if (role === "user") return saidByPerson(turns)
  return turns.flatMap((turn): (BlockTurn | SkippedCapture)[] =>
    turn.type === "turn" && turn.kind === "reply" ? saidByModel(turn.text) : [turn],
  )
}

const NOTICE = /^\s*(?:\[ERROR\]|\[TASK RESUMPTION\]|# (?:task_progress|todo))/i
const RESULT = /^\[(\w+)(?: [\s\S]{0,4000}?)?\] Result:\s*/
/** Tags around a person's words. */
const PERSON = /^<(task|feedback|answer|user_message|user_input)(?: [^>\n]*)?>/gm
/** In a result only if announced: a file that was read may have such tags, too. */
const ANNOUNCED = /(?<=following (?:feedback|context|answer)[^\n]*\n\s*)<(feedback|answer)>/g
const ASKING = new Set(["ask_followup_question", "attempt_completion", "plan_mode_respond", "plan_mode_response"])

function saidByPerson(turns: (BlockTurn | SkippedCapture)[]): (BlockTurn | SkippedCapture)[] {
  const said: (BlockTurn | SkippedCapture)[] = []
  let result: BlockTurn | undefined
  for (const turn of turns) {
    if (turn.type === "skipped") {
      said.push(turn)
      continue
    }
    const whole = takeTags(turn.text, /<(environment_details|mode_notice)>/g).rest
    const bare = turn.kind === "prompt" ? withoutInjected(whole) : whole
    if (NOTICE.test(bare) || /^<user_(?:message|input)\b/.test(bare)) result = undefined
    const [header, named] = turn.kind === "prompt" ? (RESULT.exec(bare) ?? []) : []
    const toolName = named ?? turn.toolName ?? result?.toolName
    const inResult = result !== undefined || header !== undefined || turn.kind === "tool_result"
    const { inner, rest } = takeTags(bare, inResult && !ASKING.has(toolName ?? "") ? ANNOUNCED : PERSON)
    if (turn.kind === "tool_result") said.push({ ...turn, text: rest })
    else if (header !== undefined) {
      result = { type: "turn", kind: "tool_result", text: rest.slice(header.trimEnd().length).trim() }
      if (toolName !== undefined) result.toolName = toolName
      said.push(result)
    } else if (bare === "") said.push(skipped("environment"))
    else if (result) result.text = [result.text, rest].filter(Boolean).join("\n")
    else if (NOTICE.test(bare)) said.push(skipped("notice"))
    else if (inner.length === 0) said.push(rest === "" ? skipped("context") : { ...turn, text: bare })
    for (const text of inner.map((words) => withoutInjected(words)).filter(Boolean))
      said.push({ type: "turn", kind: "prompt", text })
  }
  return said
}

/** The contents of these tags, and the text without them; an unclosed tag stays. */
function takeTags(text: string, begin: RegExp): { inner: string[]; rest: string } {
  const inner: string[] = []
  let rest = ""
  let from = 0
  for (const match of text.matchAll(begin)) {
    const end = match.index < from ? -1 : text.indexOf(`</${match[1]}>`, match.index)
    if (end < 0) {
      if (match.index >= from) break
      continue
    }
    rest += text.slice(from, match.index)
    from = text.indexOf(">", end) + 1
    inner.push(text.slice(match.index + match[0].length, end).trim())
  }
  return { inner: inner.filter(Boolean), rest: (rest + text.slice(from)).trim() }
}

const TOOLS =
  "execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|search_and_replace|search_files|list_files|list_code_definition_names|codebase_search|browser_action|use_mcp_tool|access_mcp_resource|web_fetch|fetch_instructions|load_mcp_documentation|switch_mode|new_task|update_todo_list|new_rule|condense|run_slash_command|generate_image|edit_file"
/** At the start of a line, because models write about tools, too. */
const CALL = new RegExp(`^[ \\t]*<(thinking|(?:${TOOLS}|${[...ASKING].join("|")})(?=>\\s*<))>`, "gm")

function saidByModel(text: string): BlockTurn[] {
  const turns: BlockTurn[] = []
  let from = 0
  for (const match of text.matchAll(CALL)) {
    if (match.index < from) continue
    const name = match[1]!
    const begin = match.index + match[0].length
    const end = text.indexOf(`</${name}>`, begin)
    const inner = text.slice(begin, end < 0 ? undefined : end).trim()
    turns.push(...textTurn("reply", text.slice(from, match.index).trim()))
    from = end < 0 ? text.length : end + name.length + 3
    if (name === "thinking") turns.push(...textTurn("reasoning", inner))
    // Such a call only says something to the person, in its first parameter.
    else if (ASKING.has(name)) turns.push(...textTurn("reply", Object.values(parametersIn(inner))[0]))
    else turns.push({ type: "turn", kind: "tool_call", toolName: name, text: JSON.stringify(parametersIn(inner)) })
  }
  return [...turns, ...textTurn("reply", text.slice(from).trim())]
}

function parametersIn(inner: string): Record<string, string> {
  const found: Record<string, string> = {}
  let from = 0
  for (const match of inner.matchAll(/<(\w+)>/g)) {
    if (match.index < from) continue
    const begin = match.index + match[0].length
    const end = inner.indexOf(`</${match[1]}>`, begin)
    found[match[1]!] = inner.slice(begin, end < 0 ? undefined : end).trim()
    from = end < 0 ? inner.length : end
  }
  return found
}
