import { posix, win32 } from "node:path"
import type { Capture, LineageKind, SessionCapture, SkippedCapture, TurnCapture } from "../../domain/capture.ts"
import type { LinesReader, Platform, WholeReader } from "../../domain/platform.ts"
import { lookAtFile } from "../../lib/untrusted-file.ts"
import { type Counted, usedSince } from "../shared/records/captures.ts"
import {
  asArray,
  asNumber,
  asObject,
  asString,
  type Json,
  parseLine,
  peekString,
  skipped,
} from "../shared/records/jsonl.ts"
import { digest, timeOf, titleOf, wellFormed } from "../shared/records/text.ts"
import { wholeBytes } from "../shared/records/whole.ts"
import { follow, type Line } from "./records-line.ts"
import { answered, type MessageDraft, queuedPrompt, said } from "./records-messages.ts"
import { typedPrompts } from "./records-typed.ts"

export const claudeCode: Platform = {
  id: "claude-code",
  label: "Claude Code",
  verified: "2.1.325",
  can: { hooks: true, resume: true, times: true },
  clientNames: ["claude-code"],
  places(machine) {
    const { join, isAbsolute } = machine.os === "win32" ? win32 : posix
    const { CLAUDE_CONFIG_DIR: named = "", XDG_CONFIG_HOME: xdg } = machine.env
    const homes = [
      ...named.split(",").map((dir) => dir.trim()),
      join(machine.homeDir, ".claude"),
      join(xdg || join(machine.homeDir, ".config"), "claude"),
    ]
    return [...new Set(homes.filter((dir) => isAbsolute(dir)))].flatMap((dir) => [
      { dir: join(dir, "projects"), depth: 8 },
      { dir, depth: 0 },
    ])
  },
  claim({ path: key, relative }) {
    if (relative === "history.jsonl") return { key, reader: typedPrompts }
    const [, main = "", folder] = relative.split("/")
    const name = relative.slice(relative.lastIndexOf("/") + 1)
    const sessionId = UUID.exec(main)?.[0]
    const agentId = /^agent-(.+)\.jsonl$/.exec(name)?.[1]
    if (folder === undefined) {
      const isSession = sessionId !== undefined && name === `${sessionId}.jsonl`
      return isSession || agentId ? { key, reader: transcript({ sessionId, agentId }) } : undefined
    }
    if (sessionId === undefined) return undefined
    if (folder === "tool-results") return { key, reader: savedOutput(sessionId, name) }
    return folder === "subagents" && agentId ? { key, reader: transcript({ sessionId, agentId }) } : undefined
  },
  resume: ({ nativeId, projectPath }) => ({
    argv: ["claude", "--resume", nativeId.split("/")[0]!],
    cwd: projectPath,
  }),
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** From the file's path, for records without their own ids. */
interface Origin {
  sessionId: string | undefined
  agentId: string | undefined
}

type State = {
  /** Usually one; old versions also wrote sub-agents and resumed sessions into the same file. */
  sessions: Known[]
  /** Held until the first turn: a file with nothing but a title is no session. */
  waiting: SessionCapture[]
  message?: { id: string; counted: Counted }
  /** Time of the last compaction. */
  resetAtMs?: number | undefined
  /** The latest time above the first record. */
  aboveMs?: number
  /** Of the main conversation; absent until its first record. */
  line?: Line
}
type Known = { id: string; parentId?: string; titled?: true; about: Record<string, string> }

/** Below this, parsing is cheaper than peeking at the type. */
const PEEK_FROM = 4096
const SNAPSHOT = "file-history-snapshot"
/** A snapshot is made a moment after its prompt but written above it. */
const COPIED_MS = 100
const QUEUED = Buffer.from('"queued_command"')

function transcript(origin: Origin): LinesReader {
  return {
    mode: "lines",
    begin: () => ({ sessions: [], waiting: [] }) satisfies State,
    line(line, state) {
      // Requests with tool schemas and file snapshots make up most bytes of a new transcript.
      const type = line.length < PEEK_FROM ? undefined : peekString(line, "type")
      const mayTellTime = type === SNAPSHOT && state.line === undefined
      if (type !== undefined && isSideData(type) && !mayTellTime && !line.includes(QUEUED)) return [skipped(type)]
      const record = parseLine(line)
      return onLine(record, read(record, origin, state as State), origin, state as State)
    },
  }
}

const SIDE_DATA = new Set(
  `attachment progress queue-operation file-history-snapshot file-history-delta attribution-snapshot content-replacement
  mode permission-mode memory-mode repl-mode dev-mods last-prompt tools-used cost-state atis-latch isolation-latch tag
  agent-name agent-color agent-setting pr-link worktree-state bridge-session session-owner history-suppression frame-link
  observer-ref continued-in resume-head-vouch fork-context-ref ended-by-model data-flow-records data-flow-incomplete
  artifact-comment-monitor artifact-autoreact-ledger`.split(/\s+/),
)
const isSideData = (type: string) => SIDE_DATA.has(type) || type.startsWith("api-request")

function read(record: Json, origin: Origin, state: State): Capture[] {
  const type = asString(record.type)
  if (type === undefined) throw new TypeError("a record without a type")
  const from = asObject(record.handedOver)
  if (from) return handedOff(record, from, origin, state)
  const queued = type === "attachment" ? queuedPrompt(asObject(record.attachment)) : undefined
  if (queued) return withSession(record, [queued], origin, state)
  if (isSideData(type)) return [skipped(type)]
  if (record.isMeta === true) return [skipped("meta")]
  if (type === "user" || type === "assistant") {
    const message = asObject(record.message)
    if (!message) throw new TypeError(`${type} without a message`)
    if (message.model === "<synthetic>") return [skipped("synthetic")]
    return withSession(record, type === "user" ? said(record, message) : answered(message), origin, state, message)
  }
  const about = aboutSession(record, type)
  if (about) return later({ type: "session", sessionId: mainIdOf(record, origin), ...about }, state)
  if (type !== "system") return [skipped(type, true)]
  if (record.subtype !== "compact_boundary") return [skipped(`system:${record.subtype}`)]
  state.resetAtMs = timeOf(record.timestamp)
  return withSession(record, [{ kind: "reset", text: asString(record.content) ?? "" }], origin, state)
}

/** Puts the record's rewind before its turns. */
function onLine(record: Json, captures: Capture[], origin: Origin, state: State): Capture[] {
  if (origin.agentId !== undefined || record.isSidechain === true) return captures
  if (typeof record.uuid !== "string") {
    const atMs = timeOf(record.timestamp) ?? timeOf(asObject(record.snapshot)?.timestamp)
    if (!state.line && atMs !== undefined) state.aboveMs = Math.max(state.aboveMs ?? 0, atMs)
    return captures
  }
  const sessionId = mainIdOf(record, origin)
  if (state.line?.sessionId !== sessionId) state.line = { sessionId, steps: [] }
  const turns = captures.filter((capture) => capture.type === "turn")
  const rewind = follow(state.line, record, turns)
  return rewind ? [rewind, ...captures] : captures
}

function withSession(
  record: Json,
  drafts: (MessageDraft | SkippedCapture)[],
  origin: Origin,
  state: State,
  message: Json = {},
): Capture[] {
  const mainId = mainIdOf(record, origin)
  const agentId =
    origin.agentId ?? (record.isSidechain === true ? (asString(record.agentId) ?? "sidechain") : undefined)
  const sessionId = agentId === undefined ? mainId : `${mainId}/${agentId}`
  const toldMs = timeOf(record.timestamp)
  // A summary's time is slightly before the compaction that it follows.
  const atMs = record.isCompactSummary === true && toldMs ? Math.max(toldMs, state.resetAtMs ?? 0) : toldMs
  const time = atMs === undefined ? {} : { atMs }
  const id = asString(record.uuid) ?? digest(`${record.timestamp} ${JSON.stringify(message)}`)
  const captures = drafts.map((draft, index): TurnCapture | SkippedCapture => {
    if (draft.type) return draft
    const nativeId = draft.nativeId ?? (drafts.length > 1 ? `${id}:${index}` : id)
    return { type: "turn", sessionId, ...time, ...draft, nativeId, text: wellFormed(draft.text) }
  })
  const turns = captures.filter((capture) => capture.type === "turn")
  if (turns.length === 0) return captures
  const usage = usageOf(message, state)
  if (usage) turns[0]!.usage = usage

  const before = state.sessions.find((session) => session.id === sessionId)
  const known: Known = before ?? { id: sessionId, about: {} }
  const found: SessionCapture = { type: "session", sessionId, ...changed(known, record, message) }
  const parentId = agentId === undefined ? asString(asObject(record.forkedFrom)?.sessionId) : mainId
  if (parentId && known.parentId !== parentId) {
    known.parentId = parentId
    found.parent = { sessionId: parentId, kind: agentId === undefined ? "fork" : "subagent" }
  }
  // `--fork-session` copies records with their ids and times; the file's first lines are newer.
  const isCopy = state.sessions.length === 0 && atMs !== undefined && (state.aboveMs ?? 0) > atMs + COPIED_MS
  if (isCopy && !found.parent) found.parent = { sessionId: null, kind: "fork" }
  const prompt = known.titled ? undefined : turns.find(({ kind, text }) => kind === "prompt" && !/^[/!]/.test(text))
  const title = prompt && titleOf(prompt.text)
  if (title) {
    known.titled = true
    found.title = { text: title, from: "prompt" }
  }
  if (before) return Object.keys(found).length > 2 ? [found, ...captures] : captures
  state.sessions.push(known)
  const waiting = Object.groupBy(state.waiting, (capture) => (capture.sessionId === sessionId ? "now" : "later"))
  state.waiting = waiting.later ?? []
  return [atMs === undefined ? found : { ...found, startedAtMs: atMs }, ...(waiting.now ?? []), ...captures]
}

/** Copied by our handoff from another agent's session, which has these turns already. */
function handedOff(record: Json, from: Json, origin: Origin, state: State): Capture[] {
  const [sessionId, parentId, platform] = [mainIdOf(record, origin), asString(from.sessionId), asString(from.platform)]
  const before = state.sessions.find(({ id }) => id === sessionId)
  if (before || parentId === undefined || platform === undefined) return [skipped("copied by a handoff")]
  const known: Known = { id: sessionId, parentId, titled: true, about: {} }
  state.sessions.push(known)
  const { agentVersion: _, ...about } = changed(known, record, {})
  const startedAtMs = timeOf(from.at)
  const parent = { sessionId: parentId, kind: "handover" as const, platform }
  const found: SessionCapture = { type: "session", sessionId, ...about, parent }
  return [startedAtMs === undefined ? found : { ...found, startedAtMs }, skipped("copied by a handoff")]
}

function mainIdOf(record: Json, origin: Origin): string {
  const id = asString(record.sessionId) ?? origin.sessionId
  if (id === undefined) throw new TypeError("a record without a session")
  return id
}

function changed(known: Known, record: Json, message: Json): Partial<SessionCapture> {
  const { cwd: projectPath, version: agentVersion } = record
  // Claude Code writes HEAD where there is no repository.
  const gitBranch = record.gitBranch === "HEAD" ? undefined : record.gitBranch
  const fresh: Record<string, string> = {}
  for (const [field, value] of Object.entries({ projectPath, gitBranch, agentVersion, model: message.model }))
    if (typeof value === "string" && value !== "" && known.about[field] !== value) fresh[field] = value
  Object.assign(known.about, fresh)
  return fresh
}

/** Each line of a message repeats its usage, complete only on the last line in old versions: count the difference. */
function usageOf({ id, usage }: Json, state: State): Counted | undefined {
  const tokens = asObject(usage)
  if (!tokens || typeof id !== "string") return undefined
  const [input = 0, written = 0, outputTokens = 0, cachedTokens = 0] = [
    asNumber(tokens.input_tokens),
    asNumber(tokens.cache_creation_input_tokens),
    asNumber(tokens.output_tokens),
    asNumber(tokens.cache_read_input_tokens),
  ]
  const counted = { inputTokens: input + written, outputTokens, cachedTokens }
  const before = state.message?.id === id ? state.message.counted : undefined
  state.message = { id, counted }
  return usedSince(counted, before)
}

function aboutSession(record: Json, type: string): Partial<SessionCapture> | undefined {
  const titled = (field: unknown, from: "summary" | "generated" | "person") => {
    const text = titleOf(asString(field) ?? "")
    return text === undefined ? undefined : { title: { text, from } }
  }
  if (type === "summary") return titled(record.summary, "summary")
  if (type === "ai-title") return titled(record.aiTitle, "generated")
  if (type === "custom-title") return titled(record.customTitle, "person")
  if (type === "relocated" && typeof record.relocatedCwd === "string") return { projectPath: record.relocatedCwd }
  if (type !== "derived-from") return undefined
  const source = asObject(asArray(record.sessions).findLast((from) => VIA.has(asObject(from)?.via)))
  const sessionId = asString(source?.id)
  return sessionId === undefined ? undefined : { parent: { sessionId, kind: VIA.get(source?.via)! } }
}

const VIA = new Map<unknown, LineageKind>(
  Object.entries({ branch: "fork", fork: "fork", clear: "clear", resume: "resume" } as const),
)

function later(found: SessionCapture, state: State): Capture[] {
  if (state.sessions.some(({ id }) => id === found.sessionId)) return [found]
  state.waiting.push(found)
  return []
}

/** A tool output that was too long for the transcript. */
function savedOutput(sessionId: string, name: string): WholeReader {
  return {
    mode: "whole",
    async read(path) {
      const bytes = wholeBytes(path)
      const mtimeMs = lookAtFile(path)?.mtimeMs ?? 0
      if (bytes.includes(0)) return [skipped("binary output")]
      const toolCallId = /^toolu_\w+/.exec(name)?.[0]
      const [text, nativeId, atMs] = [wellFormed(bytes.toString("utf8")), `tool-results:${name}`, Math.round(mtimeMs)]
      const turn = { type: "turn", sessionId, nativeId, kind: "tool_result", text, atMs } as const
      return [{ type: "session", sessionId }, toolCallId ? { ...turn, toolCallId } : turn]
    },
  }
}
