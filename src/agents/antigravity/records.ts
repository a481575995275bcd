import { existsSync } from "node:fs"
import { basename, dirname, join, posix, win32 } from "node:path"
import type { Capture, SessionCapture, TurnCapture } from "../../domain/capture.ts"
import type { LinesReader, Platform } from "../../domain/platform.ts"
import type { Usage } from "../../domain/turn.ts"
import { defined } from "../../lib/defined.ts"
import { turnsAt } from "../shared/records/captures.ts"
import { withoutInjected } from "../shared/records/injected.ts"
import { asNumber, asObject, asObjects, asString, type Json, parseLine, skipped } from "../shared/records/jsonl.ts"
import { timeOf, titleOf } from "../shared/records/text.ts"
import { workspaceOf } from "./workspaces.ts"

/** `agy`, which replaced Gemini CLI for individual accounts in 2026. */
export const antigravity: Platform = {
  ...antigravityLike({
    id: "antigravity",
    label: "Antigravity CLI",
    verified: "1.2.6",
    folders: ["antigravity-cli"],
  }),
  can: { hooks: false, resume: true, times: true },
  resume: ({ nativeId, projectPath }) => ({ argv: ["agy", "--conversation", nativeId], cwd: projectPath }),
}

/** The editor, also from before it had its own folder. The command line cannot resume its conversations. */
export const antigravityIde: Platform = antigravityLike({
  id: "antigravity-ide",
  label: "Antigravity",
  verified: "September 2026",
  folders: ["antigravity-ide", "antigravity"],
})

function antigravityLike({
  folders,
  ...named
}: Pick<Platform, "id" | "label" | "verified"> & { folders: string[] }): Platform {
  return {
    ...named,
    can: { hooks: false, resume: false, times: true },
    clientNames: ["antigravity-client"],
    places({ os, homeDir }) {
      const { join } = os === "win32" ? win32 : posix
      return folders.map((folder) => ({ dir: join(homeDir, ".gemini", folder, "brain"), depth: 3 }))
    },
    claim({ path, relative }) {
      const [, short] = LOG.exec(relative) ?? []
      if (short === undefined) return undefined
      const full = join(dirname(path), "transcript_full.jsonl")
      // The short log has the same steps, with long ones truncated.
      if (short === "transcript" && existsSync(full)) return undefined
      return { key: full, reader: transcript }
    },
  }
}

const LOG = /^[^/]+\/\.system_generated\/logs\/(transcript|transcript_full)\.jsonl$/

type State = {
  sessionId: string
  /** The program's own folder, which lists the workspaces of conversations. */
  home: string
  begun: boolean
  titled: boolean
  projectPath: string | null
  model: string | null
  /** Pending tool calls: results come in call order and without an id. */
  calls: { id: string; name: string }[]
}

const transcript: LinesReader = {
  mode: "lines",
  begin(path): State {
    const brain = dirname(dirname(dirname(path)))
    const home = dirname(dirname(brain))
    return { sessionId: basename(brain), home, begun: false, titled: false, projectPath: null, model: null, calls: [] }
  },
  line: (line, state) => step(parseLine(line), state as State),
}

/** Context for the model. */
const SIDE_DATA = new Set(
  "CONVERSATION_HISTORY EPHEMERAL_MESSAGE KNOWLEDGE_ARTIFACTS SYSTEM_MESSAGE ERROR_MESSAGE USER_SETTINGS".split(" "),
)

function step(record: Json, state: State): Capture[] {
  const type = asString(record.type)
  const index = asNumber(record.step_index)
  if (type === undefined || index === undefined) return [skipped(type ?? "record", true)]
  if (SIDE_DATA.has(type)) return [skipped(type)]
  const turns = turnsOf(type, record, `${index}`, state)
  if (turns === undefined) return [skipped(type, true)]
  if (turns.length === 0) return [skipped(`empty ${type}`)]
  const atMs = timeOf(record.created_at)
  const made = turns.map(turnsAt(state.sessionId, atMs))
  return [...about(made, atMs, state), ...made]
}

type Draft = Omit<TurnCapture, "type" | "sessionId" | "atMs">

/** Undefined for unknown kinds. */
function turnsOf(type: string, record: Json, id: string, state: State): Draft[] | undefined {
  const content = textIn(record.content)
  switch (type) {
    case "USER_INPUT": {
      state.model = modelIn(content) ?? state.model
      const text = requestIn(content)
      return text === "" ? [] : [{ nativeId: id, kind: "prompt", text }]
    }
    case "PLANNER_RESPONSE":
      return planned(record, content, id, state)
    case "CHECKPOINT":
      if (content.trim() === "") return []
      return [
        { nativeId: id, kind: "reset", text: "Conversation compacted" },
        { nativeId: `${id}:summary`, kind: "summary", text: content },
      ]
    default:
      return answered(type, record, content, id, state)
  }
}

function planned(record: Json, content: string, id: string, state: State): Draft[] {
  const thinking = textIn(record.thinking)
  const model = asString(record.model) ?? state.model
  const by = model === null ? {} : { model }
  const calls = asObjects(record.tool_calls).map(({ name, args }, at) => {
    const toolName = (asString(name) ?? "").replace(/^default_api:/, "")
    return {
      nativeId: `${id}:call:${at}`,
      toolName,
      toolCallId: `${id}:${at}`,
      text: JSON.stringify(plain(args ?? {})),
    }
  })
  state.calls = calls.map(({ toolCallId, toolName }) => ({ id: toolCallId, name: toolName }))
  const turns: Draft[] = [
    ...(thinking.trim() === ""
      ? []
      : [{ nativeId: `${id}:thinking`, kind: "reasoning" as const, text: thinking, ...by }]),
    ...(content.trim() === "" ? [] : [{ nativeId: id, kind: "reply" as const, text: content, ...by }]),
    ...calls.map((call) => ({ ...call, kind: "tool_call" as const, ...by })),
  ]
  const usage = usageOf(asObject(record.usage))
  const counted = turns.find(({ kind }) => kind !== "reasoning") ?? turns[0]
  if (usage && counted) counted.usage = usage
  return turns
}

/** Other steps of the model are tool results; their type names the tool, and there are many. */
function answered(type: string, record: Json, content: string, id: string, state: State): Draft[] | undefined {
  const isTools = record.source === "MODEL" || type.startsWith("TOOL_")
  const call = isTools ? state.calls.shift() : undefined
  if (!call && !TOOLS.test(type)) return undefined
  const isError = record.status === "ERROR" || record.status === "FAILED"
  const tool = { toolName: call?.name || type.toLowerCase(), ...(call && { toolCallId: call.id }) }
  return [{ nativeId: id, kind: "tool_result", text: content, ...tool, ...(isError && { isError }) }]
}

const TOOLS =
  /^(RUN_|COMMAND_|VIEW_|LIST_|CODE_|GREP_|FIND|SEARCH|READ_|WRITE_|REPLACE_|BROWSER_|MCP_|TOOL_|GENERATE_|INVOKE_|TASK_|NOTIFY_)/

/** The prompt is in one tag, added context in others. */
function requestIn(content: string): string {
  const open = content.indexOf(REQUEST)
  const close = content.lastIndexOf(`</${REQUEST.slice(1)}`)
  const asked = open >= 0 && close > open ? content.slice(open + REQUEST.length, close) : content
  return withoutInjected(asked.trim(), (name) => TOLD.has(name)).trim()
}

const REQUEST = "<USER_REQUEST>"
const TOLD = new Set([
  "ADDITIONAL_METADATA",
  "USER_SETTINGS_CHANGE",
  "USER_INFORMATION",
  "ARTIFACTS",
  "EPHEMERAL_MESSAGE",
])

/** Up to the end of the sentence; a version number has dots too. */
function modelIn(content: string): string | undefined {
  return /`Model Selection` from [^\n]*? to (.+?)(?:\.\s|\.$|\n|$)/m.exec(content)?.[1]
}

function about(turns: TurnCapture[], atMs: number | undefined, state: State): SessionCapture[] {
  const { sessionId } = state
  const found: SessionCapture = { type: "session", sessionId }
  if (!state.begun && atMs !== undefined) found.startedAtMs = atMs
  const prompt = turns.find(({ kind }) => kind === "prompt")
  // Its list of conversations may be written after the first prompt.
  const projectPath = state.projectPath ?? (prompt ? workspaceOf(state.home, sessionId) : undefined)
  if (projectPath !== undefined && projectPath !== state.projectPath)
    found.projectPath = state.projectPath = projectPath
  const title = state.titled ? undefined : titleOf(prompt?.text ?? "")
  if (title !== undefined) {
    state.titled = true
    found.title = { text: title, from: "prompt" }
  }
  const model = turns.find((turn) => turn.model !== undefined)?.model
  if (model !== undefined) found.model = model
  const isNew = !state.begun
  state.begun = true
  return isNew || Object.keys(found).length > 2 ? [found] : []
}

const textIn = (value: unknown): string => asString(value) ?? asString(asObject(value)?.text) ?? ""

/** Some versions encode each argument as a JSON string. */
function plain(args: unknown): unknown {
  const object = asObject(args)
  if (!object) return args
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, unquoted(value)]))
}

function unquoted(value: unknown): unknown {
  if (typeof value !== "string" || !/^".*"$/s.test(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

function usageOf(usage: Json | undefined): Usage | undefined {
  const first = (...names: string[]) =>
    names.map((name) => asNumber(usage?.[name])).find((count) => count !== undefined)
  const input = first("input_tokens", "prompt_token_count")
  const outputTokens = first("output_tokens", "candidates_token_count")
  if (input === undefined || outputTokens === undefined) return undefined
  const cachedTokens = first("cached_content_token_count")
  return defined({ inputTokens: input - (cachedTokens ?? 0), outputTokens, cachedTokens })
}
