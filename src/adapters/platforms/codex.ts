import { posix, win32 } from "node:path"
import type { Capture, SessionCapture, SkippedCapture, TurnCapture } from "../../domain/capture.ts"
import type { LinesReader, Platform } from "../../domain/platform.ts"
import type { Usage } from "../../domain/turn.ts"
import { asArray, asNumber, asObject, asString, type Json, parseLine, peekString } from "./shared/jsonl.ts"
import { digest, timeOf, titleOf, wellFormed } from "./shared/text.ts"

export const codex: Platform = {
  id: "codex",
  label: "Codex",
  can: { hooks: true, resume: true, times: true },
  places(machine) {
    const { join, isAbsolute } = machine.os === "win32" ? win32 : posix
    const homes = [machine.env.CODEX_HOME ?? "", join(machine.homeDir, ".codex")].filter((dir) => isAbsolute(dir))
    return [...new Set(homes)].flatMap((dir) => [
      { dir: join(dir, "sessions"), depth: 4 },
      { dir: join(dir, "archived_sessions"), depth: 4 },
      { dir, depth: 0 },
    ])
  },
  claim({ path, relative }) {
    if (relative === "session_index.jsonl") return { key: path, reader: names }
    const name = relative.slice(relative.lastIndexOf("/") + 1)
    if (!/^rollout-.+\.jsonl(\.zst)?$/.test(name)) return undefined
    if (!name.endsWith(".zst")) return { key: path, reader: rollout(name) }
    return { key: path.slice(0, -".zst".length), reader: { ...rollout(name), compression: "zstd" } }
  },
  resume: ({ nativeId, projectPath }) => ({ argv: ["codex", "resume", nativeId], cwd: projectPath }),
}

type State = {
  id?: string
  announced?: true
  /** Written for Codex itself: nobody talked in it. */
  internal?: true
  subagent?: boolean
  /** A sub-agent's file may begin with what its parent said: up to this ordinal, or, in old files, up to its own first turn. */
  ownFrom?: number
  inherited?: boolean
  projectPath?: string
  model?: string
  titled?: true
  /** Of files older than the envelope, whose items have no times. */
  bareItems: number
  moment: string
  idsOfMoment: string[]
  prompts: string[]
  /** The model's last turn, until it is known what it used. */
  last?: TurnCapture
  total?: Counted
}
type Counted = Required<Pick<Usage, "inputTokens" | "outputTokens" | "cachedTokens">>
type Draft = Pick<TurnCapture, "kind" | "text" | "toolName" | "toolCallId" | "isError">

/** More turns than this are never taken back at once. */
const MOST_PROMPTS = 500
const LONGEST_LAST = 16_384
/** Below this, parsing costs less than looking for the type in the first bytes. */
const PEEK_FROM = 4096

function rollout(name: string): LinesReader {
  return {
    mode: "lines",
    begin() {
      const state: State = { bareItems: 0, moment: "", idsOfMoment: [], prompts: [] }
      const id = /^rollout-[\dT-]{19}-([^_.]+)/.exec(name)?.[1]
      return id === undefined ? state : { ...state, id }
    },
    line(line, lineState) {
      const state = lineState as State
      if (state.internal) return [skipped("internal")]
      // The events that matter here are short; the long ones repeat what response items say.
      if (line.length >= PEEK_FROM && peekString(line, "type") === "event_msg") return [skipped("event_msg")]
      return read(parseLine(line), state)
    },
  }
}

function read(record: Json, state: State): Capture[] {
  if (record.record_type !== undefined) return [skipped("state")]
  const type = asString(record.type)
  if (type === undefined) return typeof record.id === "string" ? begun(record, state) : [skipped("untyped", true)]
  const payload = asObject(record.payload)
  if (!payload) return bareItem(record, type, state)
  if (type === "session_meta") return begun(payload, state)
  if (isInherited(record, payload, state)) return [skipped("inherited")]
  if (type === "turn_context") return changed(payload, state)
  if (type === "event_msg") return happened(payload, state)
  if (type === "compacted") {
    const message = asString(payload.message) ?? ""
    const reset = turn({ kind: "reset", text: "Conversation compacted" }, record, payload, state)
    return message === "" ? reset : [...reset, ...turn({ kind: "summary", text: message }, record, payload, state)]
  }
  if (type === "inter_agent_communication")
    return turn({ kind: "prompt", text: asString(payload.content) ?? "" }, record, payload, state)
  if (type !== "response_item") return [skipped(type, SIDE_DATA.has(type) ? undefined : true)]
  return turn(draftOf(payload), record, payload, state)
}

const SIDE_DATA = new Set(["world_state", "security_risk_score", "inter_agent_communication_metadata"])
const skipped = (kind: string, unknown?: true): SkippedCapture => ({
  type: "skipped",
  kind,
  ...(unknown && { unknown }),
})

function bareItem(record: Json, type: string, state: State): Capture[] {
  const draft = draftOf({ ...record, type })
  if ("type" in draft && draft.unknown) return [draft]
  state.bareItems++
  return turn(draft, {}, record, state)
}

function begun(meta: Json, state: State): Capture[] {
  const id = asString(meta.id)
  if (id === undefined) throw new TypeError("a session without an id")
  if (state.id !== undefined && id !== state.id) {
    // The copy of the parent's history begins with the parent's own first record.
    if (state.subagent) state.inherited = true
    return [skipped("inherited")]
  }
  state.id = id
  const source = asObject(meta.source)
  const agent =
    asObject(source?.subagent) ?? (typeof source?.subagent === "string" ? { [source.subagent]: {} } : undefined)
  const isInternal = source?.internal !== undefined || agent?.memory_consolidation || agent?.other === "guardian"
  if (isInternal || meta.thread_source === "memory_consolidation") {
    state.internal = true
    return [skipped("internal")]
  }
  state.subagent = agent !== undefined || meta.thread_source === "subagent"
  const ownFrom = asNumber(meta.subagent_history_start_ordinal)
  if (ownFrom !== undefined) state.ownFrom = ownFrom

  const found: SessionCapture = { type: "session", sessionId: id }
  const startedAtMs = timeOf(meta.timestamp)
  const branch = asString(asObject(meta.git)?.branch)
  const version = asString(meta.cli_version)
  if (startedAtMs !== undefined) found.startedAtMs = startedAtMs
  if (branch) found.gitBranch = branch
  if (version) found.agentVersion = version
  const spawner = asString(asObject(agent?.thread_spawn)?.parent_thread_id) ?? asString(meta.parent_thread_id)
  const forkedFrom = asString(meta.forked_from_id) ?? asString(asObject(meta.history_base)?.thread_id)
  if (state.subagent && spawner) found.parent = { sessionId: spawner, kind: "subagent" }
  else if (forkedFrom && forkedFrom !== id) found.parent = { sessionId: forkedFrom, kind: "fork" }
  state.announced = true
  return [Object.assign(found, ...changed(meta, state))]
}

/** Ids of turns are UUIDv7, as the session's own is: what was begun before the session is not its own. */
function isInherited(record: Json, payload: Json, state: State): boolean {
  if (state.ownFrom !== undefined) return (asNumber(record.ordinal) ?? state.ownFrom) < state.ownFrom
  if (state.inherited && typeof payload.turn_id === "string" && payload.turn_id > (state.id ?? ""))
    state.inherited = false
  return state.inherited === true
}

function changed({ cwd, model }: Json, state: State): Capture[] {
  const fresh: { projectPath?: string; model?: string } = {}
  if (typeof cwd === "string" && cwd !== state.projectPath) fresh.projectPath = cwd
  if (typeof model === "string" && model !== state.model) fresh.model = model
  Object.assign(state, fresh)
  if (Object.keys(fresh).length === 0) return [skipped("turn_context")]
  return [{ type: "session", sessionId: sessionIdOf(state), ...fresh }]
}

function happened(event: Json, state: State): Capture[] {
  if (event.type === "token_count") return used(asObject(event.info), state)
  const name = event.type === "thread_name_updated" ? titleOf(asString(event.thread_name) ?? "") : undefined
  if (name) return [{ type: "session", sessionId: sessionIdOf(state), title: { text: name, from: "person" } }]
  const turns = event.type === "thread_rolled_back" ? asNumber(event.num_turns) : undefined
  if (!turns) return [skipped(`event_msg:${asString(event.type) ?? ""}`)]
  const [fromNativeId] = state.prompts.splice(-turns)
  if (fromNativeId === undefined) return [skipped("event_msg:thread_rolled_back")]
  return [{ type: "rewind", sessionId: sessionIdOf(state), fromNativeId }]
}

/** The same totals are told many times, and a fork goes on from its parent's: what was added to them counts. */
function used(info: Json | undefined, state: State): Capture[] {
  const [total, latest] = [countedOf(info?.total_token_usage), countedOf(info?.last_token_usage)]
  const { last, total: before } = state
  if (!total || !last) return [skipped("event_msg:token_count")]
  const added = before && total.inputTokens >= before.inputTokens ? less(total, before) : (latest ?? total)
  state.total = total
  delete state.last
  if (added.inputTokens + added.outputTokens + added.cachedTokens === 0) return [skipped("event_msg:token_count")]
  return [{ ...last, usage: added }]
}

function countedOf(value: unknown): Counted | undefined {
  const usage = asObject(value)
  if (!usage) return undefined
  const cachedTokens = asNumber(usage.cached_input_tokens) ?? 0
  const inputTokens = (asNumber(usage.input_tokens) ?? 0) - cachedTokens
  return { inputTokens, outputTokens: asNumber(usage.output_tokens) ?? 0, cachedTokens }
}

function less(total: Counted, before: Counted): Counted {
  return {
    inputTokens: total.inputTokens - before.inputTokens,
    outputTokens: total.outputTokens - before.outputTokens,
    cachedTokens: total.cachedTokens - before.cachedTokens,
  }
}

function sessionIdOf({ id }: State): string {
  if (id === undefined) throw new TypeError("no session yet")
  return id
}

function turn(draft: Draft | SkippedCapture, record: Json, payload: Json, state: State): Capture[] {
  if ("type" in draft) return [draft]
  const sessionId = sessionIdOf(state)
  const text = wellFormed(draft.text)
  const atMs = timeOf(record.timestamp)
  const made: TurnCapture = {
    type: "turn",
    sessionId,
    ...draft,
    text,
    nativeId: nativeIdOf(draft, record, payload, state),
  }
  if (atMs !== undefined) made.atMs = atMs
  const isModels = draft.kind === "reply" || draft.kind === "reasoning" || draft.kind === "tool_call"
  if (isModels && state.model !== undefined) made.model = state.model
  if (isModels && text.length <= LONGEST_LAST) state.last = made
  if (draft.kind !== "prompt") return state.announced ? [made] : [announced(state), made]
  state.prompts = [...state.prompts.slice(1 - MOST_PROMPTS), made.nativeId]
  const title = state.titled ? undefined : titleOf(text)
  if (title === undefined) return state.announced ? [made] : [announced(state), made]
  state.titled = true
  return [{ ...announced(state), title: { text: title, from: "prompt" } }, made]
}

function announced(state: State): SessionCapture {
  state.announced = true
  return { type: "session", sessionId: sessionIdOf(state) }
}

/**
 * Times and contents stay when a file is migrated to pages, archived or compressed; ordinals and offsets do not. An id
 * alone is not enough: some providers count theirs from one again in each answer.
 */
function nativeIdOf(draft: Draft, record: Json, payload: Json, state: State): string {
  const moment = asString(record.timestamp)
  if (moment === undefined) return `item:${state.bareItems}`
  const own = asString(payload.id) || asString(payload.call_id) || digest(draft.text)
  const id = `${moment}:${draft.kind}:${own}`
  if (moment !== state.moment) state.idsOfMoment = []
  state.moment = moment
  const equal = state.idsOfMoment.filter((other) => other === id).length
  state.idsOfMoment.push(id)
  return equal === 0 ? id : `${id}:${equal + 1}`
}

function draftOf(item: Json): Draft | SkippedCapture {
  const type = asString(item.type) ?? ""
  const name = [asString(item.namespace), asString(item.name)].filter(Boolean).join(".")
  const call = typeof item.call_id === "string" ? { toolCallId: item.call_id } : {}
  switch (type) {
    case "message":
      return message(item)
    case "agent_message":
      return { kind: "prompt", text: textOf(item.content) }
    case "reasoning": {
      const text = [textOf(item.summary), textOf(item.content)].filter(Boolean).join("\n\n")
      return text === "" ? skipped("encrypted reasoning") : { kind: "reasoning", text }
    }
    case "function_call":
      return { kind: "tool_call", text: asString(item.arguments) ?? "", toolName: name, ...call }
    case "custom_tool_call":
      return { kind: "tool_call", text: asString(item.input) ?? "", toolName: name, ...call }
    case "local_shell_call":
    case "web_search_call":
      return { kind: "tool_call", text: JSON.stringify(item.action ?? {}), toolName: type.slice(0, -5), ...call }
    case "tool_search_call":
      return { kind: "tool_call", text: JSON.stringify(item.arguments ?? {}), toolName: "tool_search", ...call }
    case "image_generation_call":
      return { kind: "tool_call", text: asString(item.revised_prompt) ?? "", toolName: "image_generation" }
    case "function_call_output":
    case "custom_tool_call_output":
      return { kind: "tool_result", ...outputOf(item.output), ...call }
    default:
      return skipped(`item:${type}`, WITHOUT_TEXT.has(type) ? undefined : true)
  }
}

const WITHOUT_TEXT = new Set(
  "tool_search_output compaction compaction_summary context_compaction ghost_snapshot additional_tools".split(" "),
)

function message({ role, content }: Json): Draft | SkippedCapture {
  if (role === "assistant") {
    const text = textOf(content)
    return text.trim() === "" ? skipped("empty") : { kind: "reply", text }
  }
  if (role !== "user") return skipped(`role:${asString(role) ?? ""}`)
  const text = textOf(asArray(content).filter((part) => !isContext(asString(asObject(part)?.text))))
  return text.trim() === "" ? skipped("context") : { kind: "prompt", text }
}

/** What the client tells the model in a user's name; also the marks around an attached image. */
function isContext(text: string | undefined): boolean {
  const trimmed = text?.trim() ?? ""
  const mark = /^<(\/?[a-z_]+)[^>]*>/i.exec(trimmed)?.[1] ?? ""
  if (/^\/?(image|audio)$/.test(mark)) return !trimmed.includes("\n")
  if (CONTEXT.has(mark) || mark.startsWith("external_")) return trimmed.endsWith(`</${mark}>`)
  return trimmed.startsWith("# AGENTS.md instructions") && trimmed.endsWith("</INSTRUCTIONS>")
}

const CONTEXT = new Set(
  `environment_context user_instructions INSTRUCTIONS skill user_shell_command turn_aborted subagent_notification
  recommended_plugins goal_context codex_internal_context hook_prompt user_action`.split(/\s+/),
)

function textOf(content: unknown): string {
  if (typeof content === "string") return content
  const texts = asArray(content).map((part) => {
    const block = asObject(part)
    return asString(block?.text) ?? (block?.type === "input_image" ? "[image]" : "")
  })
  return texts.filter(Boolean).join("\n")
}

function outputOf(output: unknown): Pick<Draft, "text" | "isError"> {
  const text = textOf(asObject(output)?.content ?? output)
  // Old versions put the output of a command into JSON.
  const wrapped = text.startsWith('{"output":') ? asObject(parsed(text)) : undefined
  const told = /^(?:Exit code: |[^]{0,200}?\nProcess exited with code )(\d+)/.exec(text)?.[1]
  const exitCode = asNumber(asObject(wrapped?.metadata)?.exit_code) ?? Number(told ?? 0)
  return { text: asString(wrapped?.output) ?? text, ...(exitCode !== 0 && { isError: true }) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const names: LinesReader = {
  mode: "lines",
  begin: () => ({}),
  line(line) {
    const { id, thread_name: name } = parseLine(line)
    const title = titleOf(asString(name) ?? "")
    if (typeof id !== "string" || title === undefined) return [skipped("unnamed")]
    return [{ type: "session", sessionId: id, title: { text: title, from: "person" } }]
  },
}
