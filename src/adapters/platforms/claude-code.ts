import { readFile, stat } from "node:fs/promises"
import { posix, win32 } from "node:path"
import type {
  Capture,
  LineageKind,
  SessionCapture,
  SkippedCapture,
  TitleSource,
  TurnCapture,
} from "../../domain/capture.ts"
import type { Claim, LinesReader, Platform, WholeReader } from "../../domain/platform.ts"
import type { Usage } from "../../domain/turn.ts"
import { asArray, asNumber, asObject, asString, type Json, parseLine, peekString } from "./shared/jsonl.ts"
import { digest, timeOf, titleOf, wellFormed } from "./shared/text.ts"

export const claudeCode: Platform = {
  id: "claude-code",
  label: "Claude Code",
  can: { hooks: true, resume: true, times: true },
  places(machine) {
    const { join, isAbsolute } = machine.os === "win32" ? win32 : posix
    const { CLAUDE_CONFIG_DIR: named = "", XDG_CONFIG_HOME: xdg } = machine.env
    const homes = [
      ...named.split(",").map((dir) => dir.trim()),
      join(machine.homeDir, ".claude"),
      join(xdg || join(machine.homeDir, ".config"), "claude"),
    ].filter((dir) => isAbsolute(dir))
    return [...new Set(homes)].flatMap((dir) => [
      { dir: join(dir, "projects"), depth: 8 },
      { dir, depth: 0 },
    ])
  },
  claim({ path, relative }): Claim | undefined {
    if (relative === "history.jsonl") return { key: path, reader: typedPrompts }
    const [, session = "", folder] = relative.split("/")
    const name = relative.slice(relative.lastIndexOf("/") + 1)
    const agentId = /^agent-(.+)\.jsonl$/.exec(name)?.[1]
    if (folder === undefined) {
      const sessionId = name.endsWith(".jsonl") && UUID.test(name.slice(0, -6)) ? name.slice(0, -6) : undefined
      return sessionId || agentId ? { key: path, reader: transcript({ sessionId, agentId }) } : undefined
    }
    if (!UUID.test(session)) return undefined
    if (folder === "subagents" && agentId) return { key: path, reader: transcript({ sessionId: session, agentId }) }
    return folder === "tool-results" ? { key: path, reader: savedOutput(session, name) } : undefined
  },
  resume: ({ nativeId, projectPath }) => ({
    argv: ["claude", "--resume", nativeId.split("/")[0]!],
    cwd: projectPath,
  }),
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What the file's path says, for records that do not say it themselves. */
interface Origin {
  sessionId: string | undefined
  agentId: string | undefined
}

type State = {
  sessions: Record<string, Known>
  /** What came before the first turn. A file may hold nothing but a title, and then there is no session. */
  waiting: SessionCapture[]
  message?: { id: string; counted: Counted }
}
type Known = Pick<SessionCapture, "projectPath" | "gitBranch" | "agentVersion" | "model"> & {
  parentId?: string
  titled?: true
}
type Counted = Required<Pick<Usage, "inputTokens" | "outputTokens" | "cachedTokens">>
type Draft = Omit<TurnCapture, "type" | "sessionId" | "nativeId" | "atMs"> & { nativeId?: string; type?: never }

/** Below this, parsing costs less than looking for the type in the first bytes. */
const PEEK_FROM = 4096
const QUEUED = Buffer.from('"queued_command"')

function transcript(origin: Origin): LinesReader {
  return {
    mode: "lines",
    begin: () => ({ sessions: {}, waiting: [] }) satisfies State,
    line(line, state) {
      // Requests with all tool schemas, and snapshots of files, make up most bytes of a new transcript.
      const type = line.length < PEEK_FROM ? undefined : peekString(line, "type")
      if (type !== undefined && isSideData(type) && !(type === "attachment" && line.includes(QUEUED)))
        return [skipped(type)]
      return read(parseLine(line), origin, state as State)
    },
  }
}

function read(record: Json, origin: Origin, state: State): Capture[] {
  const type = asString(record.type)
  if (type === undefined) throw new TypeError("a record without a type")
  const attachment = type === "attachment" ? asObject(record.attachment) : undefined
  if (isSideData(type) && attachment?.type !== "queued_command") return [skipped(type)]
  if (record.isMeta === true) return [skipped("meta")]
  const title = TITLES[type]
  if (title || type === "relocated" || type === "derived-from") return aboutSession(record, type, origin, state)
  const message = asObject(record.message)
  if (type === "user" || type === "assistant") {
    if (!message) throw new TypeError(`${type} without a message`)
    if (message.model === "<synthetic>") return [skipped("synthetic")]
    const drafts = type === "user" ? said(record, message) : answered(message)
    return withSession(record, drafts, origin, state, message)
  }
  if (attachment) return withSession(record, queued(attachment), origin, state)
  if (type !== "system") return [skipped(type, true)]
  if (record.subtype !== "compact_boundary") return [skipped(`system:${asString(record.subtype) ?? ""}`)]
  return withSession(record, [{ kind: "reset", text: asString(record.content) ?? "" }], origin, state)
}

const TITLES: Record<string, { field: string; from: TitleSource } | undefined> = {
  summary: { field: "summary", from: "summary" },
  "ai-title": { field: "aiTitle", from: "generated" },
  "custom-title": { field: "customTitle", from: "person" },
}
const SIDE_DATA = new Set(
  `attachment progress queue-operation file-history-snapshot file-history-delta attribution-snapshot content-replacement
  mode permission-mode memory-mode repl-mode dev-mods last-prompt tools-used cost-state atis-latch isolation-latch tag
  agent-name agent-color agent-setting pr-link worktree-state bridge-session session-owner history-suppression frame-link
  observer-ref continued-in resume-head-vouch fork-context-ref ended-by-model data-flow-records data-flow-incomplete
  artifact-comment-monitor artifact-autoreact-ledger`.split(/\s+/),
)
const isSideData = (type: string) => SIDE_DATA.has(type) || type.startsWith("api-request")
const skipped = (kind: string, unknown?: true): SkippedCapture => ({
  type: "skipped",
  kind,
  ...(unknown && { unknown }),
})

function said(record: Json, message: Json): (Draft | SkippedCapture)[] {
  if (record.isCompactSummary === true) return [{ kind: "summary", text: textOf(message.content) }]
  const origin = asString(asObject(record.origin)?.kind)
  if (origin && UNSAID.has(origin)) return [skipped(`origin:${origin}`)]
  return blocksOf(message).map((block) => {
    if (block.type === "tool_result") return toolResult(block)
    return block.type === "text" ? typed(asString(block.text) ?? "") : skipped(`block:${block.type}`)
  })
}

const UNSAID = new Set(["task-notification", "auto-continuation", "plugin", "unclassified"])

/** What a person typed, freed from the marks that the client puts around commands. */
function typed(text: string): Draft | SkippedCapture {
  const mark = /^\s*<([a-z][a-z_-]*)>/.exec(text)?.[1] ?? ""
  if (mark === "bash-stdout" || mark === "bash-stderr") return { kind: "tool_result", text, toolName: "bash" }
  if (mark === "bash-input") return { kind: "prompt", text: `! ${inside(text, mark)}` }
  if (mark.startsWith("command-"))
    return { kind: "prompt", text: `${inside(text, "command-name")} ${inside(text, "command-args")}`.trim() }
  if (/^(local-command-|ide_|task-notification|system-reminder)/.test(mark)) return skipped(`mark:${mark}`)
  if (text.startsWith("[Request interrupted by user")) return skipped("interrupted")
  return text.trim() === "" ? skipped("empty") : { kind: "prompt", text }
}

const inside = (text: string, mark: string) => text.split(`<${mark}>`)[1]?.split(`</${mark}>`)[0] ?? ""

function answered(message: Json): (Draft | SkippedCapture)[] {
  const model = asString(message.model)
  return blocksOf(message).map((block) => {
    const type = asString(block.type) ?? ""
    const text = asString(type === "thinking" ? block.thinking : block.text) ?? ""
    if (type === "text" || type === "thinking") {
      if (text.trim() === "") return skipped(`empty ${type}`)
      return { kind: type === "text" ? "reply" : "reasoning", text, ...(model && { model }) }
    }
    if (type.endsWith("tool_use")) return toolCall(block, model)
    if (type.endsWith("tool_result")) return toolResult(block)
    return skipped(`block:${type}`, type === "redacted_thinking" ? undefined : true)
  })
}

function toolCall({ id, name, input }: Json, model: string | undefined): Draft {
  return {
    kind: "tool_call",
    text: JSON.stringify(input ?? {}),
    ...(typeof name === "string" && { toolName: name }),
    ...(typeof id === "string" && { toolCallId: id }),
    ...(model && { model }),
  }
}

function toolResult({ tool_use_id: id, content, is_error: isError }: Json): Draft {
  return {
    kind: "tool_result",
    text: textOf(content),
    ...(typeof id === "string" && { toolCallId: id }),
    ...(isError === true && { isError }),
  }
}

/** A prompt that was handed over in the middle of a turn has no record of its own but this. */
function queued(attachment: Json): (Draft | SkippedCapture)[] {
  const from = asString(attachment.commandMode) ?? asString(asObject(attachment.origin)?.kind) ?? "prompt"
  const repeated = attachment.isMeta === true || attachment.carriedByCompaction === true
  if (repeated || UNSAID.has(from)) return [skipped("attachment")]
  const draft = typed(textOf(attachment.prompt))
  const nativeId = asString(attachment.source_uuid)
  return [draft.type || !nativeId ? draft : { ...draft, nativeId }]
}

function blocksOf({ content }: Json): Json[] {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return asArray(content).map((block) => asObject(block) ?? {})
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content
  const texts = asArray(content).map((part) => {
    const block = asObject(part)
    return asString(block?.text) ?? asString(block?.tool_name) ?? (block?.type === "image" ? "[image]" : "")
  })
  return texts.filter(Boolean).join("\n")
}

function withSession(
  record: Json,
  drafts: (Draft | SkippedCapture)[],
  origin: Origin,
  state: State,
  message?: Json,
): Capture[] {
  const { sessionId, mainId } = sessionOf(record, origin)
  const atMs = timeOf(record.timestamp)
  const id = asString(record.uuid) ?? digest(String(record.timestamp), JSON.stringify(message))
  const captures = drafts.map((draft, index): TurnCapture | SkippedCapture => {
    if (draft.type) return draft
    const nativeId = draft.nativeId ?? (drafts.length > 1 ? `${id}:${index}` : id)
    const text = wellFormed(draft.text)
    return { type: "turn", sessionId, ...draft, nativeId, text, ...(atMs !== undefined && { atMs }) }
  })
  const turns = captures.filter((capture) => capture.type === "turn")
  if (turns.length === 0) return captures
  const usage = message && usageOf(message, state)
  if (usage) turns[0]!.usage = usage

  const first = state.sessions[sessionId] === undefined
  const known = (state.sessions[sessionId] ??= {})
  const found: SessionCapture = { type: "session", sessionId, ...changed(known, record, message) }
  const forkedFrom = asString(asObject(record.forkedFrom)?.sessionId)
  const parentId = mainId ?? forkedFrom
  if (parentId && known.parentId !== parentId) {
    known.parentId = parentId
    found.parent = { sessionId: parentId, kind: mainId ? "subagent" : "fork" }
  }
  if (first && atMs !== undefined) found.startedAtMs = atMs
  const prompt = known.titled ? undefined : turns.find(({ kind, text }) => kind === "prompt" && !/^[/!]/.test(text))
  const title = prompt && titleOf(prompt.text)
  if (title) {
    known.titled = true
    found.title = { text: title, from: "prompt" }
  }
  if (!first && Object.keys(found).length === 2) return captures
  const waited = first ? state.waiting.filter((capture) => capture.sessionId === sessionId) : []
  if (waited.length > 0) state.waiting = state.waiting.filter((capture) => capture.sessionId !== sessionId)
  return [found, ...waited, ...captures]
}

function sessionOf(record: Json, origin: Origin): { sessionId: string; mainId: string | undefined } {
  const mainId = asString(record.sessionId) ?? origin.sessionId
  if (mainId === undefined) throw new TypeError("a record without a session")
  const agentId =
    origin.agentId ?? (record.isSidechain === true ? (asString(record.agentId) ?? "sidechain") : undefined)
  return agentId === undefined
    ? { sessionId: mainId, mainId: undefined }
    : { sessionId: `${mainId}/${agentId}`, mainId }
}

function changed(known: Known, record: Json, message: Json | undefined): Partial<SessionCapture> {
  const now: Record<string, unknown> = {
    projectPath: record.cwd,
    gitBranch: record.gitBranch,
    agentVersion: record.version,
    model: message?.model,
  }
  const fresh: Record<string, string> = {}
  for (const [field, value] of Object.entries(now))
    if (typeof value === "string" && value !== "" && known[field as keyof Known] !== value) fresh[field] = value
  Object.assign(known, fresh)
  return fresh
}

/** Each line of a message repeats its usage, and old versions only know all of it on the last line: what is new counts. */
function usageOf(message: Json, state: State): Usage | undefined {
  const usage = asObject(message.usage)
  const id = asString(message.id)
  if (!usage || id === undefined) return undefined
  const tokens = (name: string) => asNumber(usage[name]) ?? 0
  const counted: Counted = {
    inputTokens: tokens("input_tokens") + tokens("cache_creation_input_tokens"),
    outputTokens: tokens("output_tokens"),
    cachedTokens: tokens("cache_read_input_tokens"),
  }
  const before = state.message?.id === id ? state.message.counted : undefined
  state.message = { id, counted }
  if (!before) return counted
  const added: Counted = {
    inputTokens: counted.inputTokens - before.inputTokens,
    outputTokens: counted.outputTokens - before.outputTokens,
    cachedTokens: counted.cachedTokens - before.cachedTokens,
  }
  return Object.values(added).some((tokens) => tokens !== 0) ? added : undefined
}

function aboutSession(record: Json, type: string, origin: Origin, state: State): Capture[] {
  const { sessionId } = sessionOf({ sessionId: record.sessionId }, origin)
  const found: SessionCapture = { type: "session", sessionId }
  const title = TITLES[type]
  const named = title && titleOf(asString(record[title.field]) ?? "")
  if (title && named) found.title = { text: named, from: title.from }
  if (type === "relocated" && typeof record.relocatedCwd === "string") found.projectPath = record.relocatedCwd
  const source = asObject(asArray(record.sessions).findLast((from) => VIA[String(asObject(from)?.via)]))
  if (source && typeof source.id === "string") found.parent = { sessionId: source.id, kind: VIA[String(source.via)]! }
  if (Object.keys(found).length === 2) return [skipped(type)]
  if (state.sessions[sessionId]) return [found]
  state.waiting.push(found)
  return []
}

const VIA: Record<string, LineageKind | undefined> = { branch: "fork", fork: "fork", clear: "clear", resume: "resume" }

/** All prompts ever typed. Claude Code deletes transcripts after 30 days, but not these. */
const typedPrompts: LinesReader = {
  mode: "lines",
  begin: () => ({ sessions: [] }),
  line(line, state) {
    const { sessionId, display, timestamp, project, pastedContents } = parseLine(line)
    if (typeof sessionId !== "string" || typeof display !== "string") return [skipped("history without a session")]
    const pasted = asObject(pastedContents) ?? {}
    const text = wellFormed(
      display.replace(/\[Pasted text #(\d+)[^\]]*\]/g, (mark, id) => asString(asObject(pasted[id])?.content) || mark),
    )
    if (text.trim() === "" || /^\/[\w:-]+\s*$/.test(text)) return [skipped("command")]
    const atMs = asNumber(timestamp)
    const found: SessionCapture = { type: "session", sessionId }
    if (typeof project === "string") found.projectPath = project
    const sessions = state.sessions as string[]
    const title = sessions.includes(sessionId) ? undefined : titleOf(text)
    if (title) found.title = { text: title, from: "prompt" }
    if (title && atMs !== undefined) found.startedAtMs = atMs
    if (title) state.sessions = [...sessions.slice(-255), sessionId]
    const nativeId = `typed:${digest(text)}:${atMs ?? ""}`
    const turn: TurnCapture = { type: "turn", sessionId, nativeId, kind: "prompt", text, fallback: true }
    return [found, atMs === undefined ? turn : { ...turn, atMs }]
  },
}

/** A tool's output that was too long for the transcript. */
function savedOutput(sessionId: string, name: string): WholeReader {
  return {
    mode: "whole",
    async read(path) {
      const [bytes, { mtimeMs }] = await Promise.all([readFile(path), stat(path)])
      if (bytes.includes(0)) return [skipped("binary output")]
      const callId = /^toolu_\w+/.exec(name)?.[0]
      const text = wellFormed(bytes.toString("utf8"))
      const turn: TurnCapture = { type: "turn", sessionId, nativeId: `tool-results:${name}`, kind: "tool_result", text }
      turn.atMs = Math.round(mtimeMs)
      if (callId) turn.toolCallId = callId
      return [{ type: "session", sessionId }, turn]
    },
  }
}
