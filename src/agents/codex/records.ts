import { posix, win32 } from "node:path"
import type { Capture, SessionCapture, SkippedCapture, TurnCapture } from "../../domain/capture.ts"
import type { LinesReader, Platform } from "../../domain/platform.ts"
import { bareSummary } from "../../lib/compaction.ts"
import { defined } from "../../lib/defined.ts"
import { type Counted, sessionOf, usedSince } from "../shared/records/captures.ts"
import { asNumber, asObject, asString, type Json, parseLine, peekString, skipped } from "../shared/records/jsonl.ts"
import { digest, textOf, timeOf, titleOf, wellFormed } from "../shared/records/text.ts"
import { draftOf, type ItemDraft } from "./records-items.ts"

export const codex: Platform = {
  id: "codex",
  label: "Codex",
  verified: "0.166.0",
  can: { hooks: true, resume: true, times: true },
  clientNames: ["codex-mcp-client", "Codex"],
  places(machine) {
    const { join, isAbsolute } = machine.os === "win32" ? win32 : posix
    const homes = [machine.env.CODEX_HOME ?? "", join(machine.homeDir, ".codex")]
    return [...new Set(homes.filter((dir) => isAbsolute(dir)))].flatMap((dir) => [
      { dir: join(dir, "sessions"), depth: 4 },
      { dir: join(dir, "archived_sessions"), depth: 4 },
      { dir, depth: 0 },
    ])
  },
  claim({ path, relative }) {
    if (relative === "session_index.jsonl") return { key: path, reader: names }
    const name = relative.slice(relative.lastIndexOf("/") + 1)
    if (!/^rollout-.+\.jsonl(\.zst)?$/.test(name)) return undefined
    if (!name.endsWith(".zst")) return { key: keyOf(path), reader: rollout(name) }
    return { key: keyOf(path.slice(0, -".zst".length)), reader: { ...rollout(name), compression: "zstd" } }
  },
  resume: ({ nativeId, projectPath }) => ({ argv: ["codex", "resume", nativeId], cwd: projectPath }),
}

/** The same anywhere below Codex's home: archiving moves the file, at any time. */
function keyOf(path: string): string {
  const { home, name } =
    /^(?<home>.*[\\/])(archived_)?sessions[\\/](\d+[\\/])*(?<name>[^\\/]+)$/.exec(path)?.groups ?? {}
  return home === undefined ? path : `${home}${name}`
}

type State = {
  id?: string
  /** This file continues a session after a rewind; the other file keeps what was rewound. */
  isReverted?: true
  announced?: true
  titled?: true
  projectPath?: string
  model?: string
  /** An internal session of Codex, without a person. */
  internal?: true
  /** A sub-agent's file may begin with its parent's records: up to an ordinal or, in old files, its own first turn. */
  subagent?: boolean
  ownFrom?: number
  inherited?: boolean
  /** Made by our handoff: older records are copies from another agent's session, which has them already. */
  handedOverAtMs?: number
  /** Counts items in old files without envelopes, whose items have no times. */
  bareItems: number
  moment: string
  idsOfMoment: string[]
  prompts: string[]
  /** The model's latest turn, until its token count arrives. */
  latest?: TurnCapture
  total?: Counted
}
/** At most this many turns can be rewound at once. */
const MOST_PROMPTS = 500
/** A longer turn is not stored in the state; its tokens are counted with the next. */
const LONGEST_LATEST = 16_384
/** Below this, parsing is cheaper than peeking at the type. */
const PEEK_FROM = 4096

function rollout(name: string): LinesReader {
  const [, id, isReverted] = /^rollout-[\dT-]{19}-([^_.]+)(_)?/.exec(name) ?? []
  return {
    mode: "lines",
    begin(): State {
      const state: State = { bareItems: 0, moment: "", idsOfMoment: [], prompts: [] }
      return { ...state, ...(id && { id }), ...(isReverted && { isReverted: true }) }
    },
    line(line, state: State) {
      if (state.internal) return [skipped("internal")]
      // Relevant events are short; long ones repeat response items.
      if (line.length >= PEEK_FROM && peekString(line, "type") === "event_msg") return [skipped("event_msg")]
      return read(parseLine(line), state)
    },
  }
}

function read(record: Json, state: State): Capture[] {
  if (record.record_type !== undefined) return [skipped("state")]
  const type = asString(record.type)
  if (type === undefined) return begun(record, state)
  const payload = asObject(record.payload)
  if (!payload) {
    state.bareItems++
    return turn(draftOf(record), {}, record, state)
  }
  if (type === "session_meta") return begun(payload, state)
  if (isInherited(record, payload, state)) return [skipped("inherited")]
  if (state.handedOverAtMs && (timeOf(record.timestamp) ?? 0) < state.handedOverAtMs)
    return [skipped("copied by a handoff")]
  switch (type) {
    case "response_item":
      return turn(draftOf(payload), record, payload, state)
    case "inter_agent_communication":
      return turn({ kind: "prompt", text: textOf(payload.content) }, record, payload, state)
    case "compacted": {
      const reset = turn({ kind: "reset", text: "Conversation compacted" }, record, payload, state)
      const message = bareSummary(textOf(payload.message))
      return message ? [...reset, ...turn({ kind: "summary", text: message }, record, payload, state)] : reset
    }
    case "turn_context":
      return changed(payload, state)
    case "event_msg":
      return happened(payload, record, state)
    default:
      return [skipped(type, !SIDE_DATA.has(type))]
  }
}

const SIDE_DATA = new Set(
  "world_state security_risk_score token_usage_record inter_agent_communication_metadata".split(" "),
)

function begun(meta: Json, state: State): Capture[] {
  const id = asString(meta.id)
  if (id === undefined) throw new TypeError("a session without an id")
  if (state.id !== undefined && id !== state.id) {
    // A copy of the parent's history begins with the parent's own first record.
    if (state.subagent) state.inherited = true
    return [skipped("inherited")]
  }
  state.id = id
  const source = asObject(meta.source)
  const agent = asObject(source?.subagent) ?? { [asString(source?.subagent) ?? "none"]: true }
  const isInternal = source?.internal !== undefined || agent.memory_consolidation || agent.other === "guardian"
  if (isInternal || meta.thread_source === "memory_consolidation") {
    state.internal = true
    return [skipped("internal")]
  }
  state.subagent = source?.subagent !== undefined || meta.thread_source === "subagent"
  const ownFrom = asNumber(meta.subagent_history_start_ordinal)
  if (ownFrom !== undefined) state.ownFrom = ownFrom

  const startedAtMs = timeOf(meta.timestamp)
  const spawner = asString(asObject(agent.thread_spawn)?.parent_thread_id) ?? asString(meta.parent_thread_id)
  const base = state.isReverted ? undefined : asString(asObject(meta.history_base)?.thread_id)
  const forkedFrom = asString(meta.forked_from_id) ?? base
  const parentId = state.subagent ? spawner : forkedFrom
  state.announced = true
  // Not from the originator: Codex writes the daemon's first client there.
  if (meta.handed_over !== undefined && startedAtMs !== undefined) state.handedOverAtMs = startedAtMs
  const isOwn = !parentId || parentId === id
  const found: SessionCapture = {
    ...sessionOf(id, {
      startedAtMs,
      agentVersion: asString(meta.cli_version) || undefined,
      gitBranch: asString(asObject(meta.git)?.branch) || undefined,
      parent: isOwn ? undefined : { sessionId: parentId, kind: state.subagent ? "subagent" : "fork" },
    }),
    ...handedOff(asObject(meta.handed_over), state),
  }
  return [Object.assign(found, ...changed(meta, state).filter(({ type }) => type === "session"))]
}

function handedOff(from: Json | undefined, state: State): Partial<SessionCapture> {
  const [sessionId, platform, title] = [from?.session_id, from?.platform, titleOf(asString(from?.title) ?? "")]
  if (typeof sessionId !== "string" || typeof platform !== "string") return {}
  const parent = { sessionId, kind: "handover" as const, platform }
  if (title === undefined) return { parent }
  state.titled = true
  return { parent, title: { text: title, from: "prompt" } }
}

/** Turn ids are UUIDv7 like the session's: a turn that began before the session is inherited. */
function isInherited({ ordinal }: Json, { turn_id: turnId }: Json, state: State): boolean {
  if (state.ownFrom !== undefined) return typeof ordinal === "number" && ordinal < state.ownFrom
  const id = sessionIdOf(state)
  if (typeof turnId === "string" && (turnId > id || turnId.length !== id.length)) state.inherited = false
  return state.inherited === true
}

function changed({ cwd, model }: Json, state: State): Capture[] {
  const fresh = {
    ...(typeof cwd === "string" && cwd !== state.projectPath && { projectPath: cwd }),
    ...(typeof model === "string" && model !== state.model && { model }),
  }
  Object.assign(state, fresh)
  const isFresh = Object.keys(fresh).length > 0
  return [isFresh ? { type: "session", sessionId: sessionIdOf(state), ...fresh } : skipped("turn_context")]
}

function happened(event: Json, { timestamp }: Json, state: State): Capture[] {
  const nothing = [skipped(`event_msg:${event.type}`)]
  if (event.type === "token_count") return used(asObject(event.info), state) ?? nothing
  if (event.type === "thread_name_updated") return named(state.id, event.thread_name) ?? nothing
  const count = event.type === "thread_rolled_back" ? asNumber(event.num_turns) : undefined
  const fromNativeId = count ? state.prompts.splice(-count)[0] : undefined
  if (fromNativeId === undefined) return nothing
  return [{ type: "rewind", sessionId: sessionIdOf(state), fromNativeId, ...defined({ atMs: timeOf(timestamp) }) }]
}

/** Totals repeat, and a fork continues its parent's: count the difference. */
function used(info: Json | undefined, state: State): Capture[] | undefined {
  const { latest, total: before } = state
  const [total, last] = [countedOf(info?.total_token_usage), countedOf(info?.last_token_usage)]
  if (!total || !latest) return undefined
  state.total = total
  delete state.latest
  const hasGrown = before && total.outputTokens >= before.outputTokens && total.inputTokens >= before.inputTokens
  if (!hasGrown) return [{ ...latest, usage: last ?? total }]
  const usage = usedSince(total, before)
  return usage && [{ ...latest, usage }]
}

function countedOf(value: unknown): Counted | undefined {
  const usage = asObject(value)
  const [input = 0, cachedTokens = 0, outputTokens = 0] = [
    asNumber(usage?.input_tokens),
    asNumber(usage?.cached_input_tokens),
    asNumber(usage?.output_tokens),
  ]
  return usage && { inputTokens: input - cachedTokens, outputTokens, cachedTokens }
}

function turn(draft: ItemDraft | SkippedCapture, record: Json, payload: Json, state: State): Capture[] {
  if (draft.type) return [draft]
  const [sessionId, atMs, text] = [sessionIdOf(state), timeOf(record.timestamp), wellFormed(draft.text)]
  const isModels = draft.kind === "reply" || draft.kind === "reasoning" || draft.kind === "tool_call"
  const made: TurnCapture = {
    type: "turn",
    sessionId,
    ...draft,
    text,
    nativeId: nativeIdOf(draft, record, payload, state),
    ...(atMs !== undefined && { atMs }),
    ...(isModels && state.model && { model: state.model }),
  }
  if (isModels && text.length <= LONGEST_LATEST) state.latest = made
  const found: SessionCapture = { type: "session", sessionId }
  if (draft.kind === "prompt") {
    state.prompts = [...state.prompts.slice(1 - MOST_PROMPTS), made.nativeId]
    const title = state.titled ? undefined : titleOf(text)
    if (title) found.title = { text: title, from: "prompt" }
    state.titled = true
  }
  if (state.announced && !found.title) return [made]
  state.announced = true
  return [found, made]
}

function sessionIdOf({ id }: State): string {
  if (id === undefined) throw new TypeError("no session yet")
  return id
}

/**
 * Built from time and content, which survive migration, archiving and compression; ordinals and offsets do not. An id alone
 * is not unique: some providers restart theirs in each answer.
 */
function nativeIdOf({ kind, text }: ItemDraft, { timestamp }: Json, payload: Json, state: State): string {
  if (typeof timestamp !== "string") return `item:${state.bareItems}`
  const id = `${timestamp}:${kind}:${asString(payload.id) || asString(payload.call_id) || digest(text)}`
  if (timestamp !== state.moment) state.idsOfMoment = []
  state.moment = timestamp
  state.idsOfMoment.push(id)
  const equal = state.idsOfMoment.filter((other) => other === id).length
  return equal === 1 ? id : `${id}:${equal}`
}

function named(sessionId: unknown, name: unknown): Capture[] | undefined {
  const text = titleOf(asString(name) ?? "")
  if (typeof sessionId !== "string" || text === undefined) return undefined
  return [{ type: "session", sessionId, title: { text, from: "person" } }]
}

const names: LinesReader = {
  mode: "lines",
  begin: () => ({}),
  line(line) {
    const { id, thread_name: name } = parseLine(line)
    return named(id, name) ?? [skipped("unnamed")]
  },
}
