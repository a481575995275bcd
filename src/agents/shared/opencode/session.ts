import type { Capture, SessionCapture, SkippedCapture, TurnCapture } from "../../../domain/capture.ts"
import { OVER_LIMIT } from "../../../domain/source.ts"
import type { Usage } from "../../../domain/turn.ts"
import { bareSummary } from "../../../lib/compaction.ts"
import { defined } from "../../../lib/defined.ts"
import { sessionOf, titled, turnsAt } from "../records/captures.ts"
import { withoutInjected } from "../records/injected.ts"
import { asNumber, asObject, asString, type Json, skipped } from "../records/jsonl.ts"

/** Turns a session's messages into captures, in order. */
export class SessionReading {
  readonly #session: FoundSession
  /** Parts skipped before this time are counted already. */
  readonly #countedUntil: number
  #model: string | undefined
  #firstHidden: string | undefined

  constructor(session: FoundSession, countedUntil: number) {
    this.#session = session
    this.#countedUntil = countedUntil
  }

  captures(message: Message): Capture[] {
    const isUser = message.data.role === "user"
    const model = isUser ? undefined : asString(message.data.modelID)
    this.#model = model ?? this.#model
    const turn = turnsAt(this.#session.capture.sessionId, undefined)
    const captures = message.parts.flatMap((part) => {
      const found = partCaptures(part.data, part.id, message.data)
      const turns = found.flatMap((capture): TurnCapture[] => {
        if (capture.type === "skipped") return []
        const at = capture.atMs ?? part.createdAt ?? message.createdAt
        const atMs = at !== undefined && isUser ? (message.createdAt ?? at) : at
        return [turn({ ...capture, atMs, model: capture.kind === "tool_result" ? undefined : model })]
      })
      if (turns[0] && this.#isHidden(message.id, part.id)) this.#firstHidden ??= turns[0].nativeId
      const isCounted = (part.createdAt ?? 1) <= this.#countedUntil
      return [...turns, ...(isCounted ? [] : found.filter((capture) => capture.type === "skipped"))]
    })
    const turns = captures.filter((capture) => capture.type === "turn")
    const usage = usageOf(message.data)
    const counted =
      turns.findLast(({ kind }) => kind === "reply" || kind === "summary") ??
      turns.findLast(({ kind }) => kind !== "tool_result")
    if (usage && counted) counted.usage = usage
    return captures
  }

  end(): Capture[] {
    const { sessionId } = this.#session.capture
    const captures: Capture[] = this.#model === undefined ? [] : [{ type: "session", sessionId, model: this.#model }]
    if (this.#firstHidden !== undefined) captures.push({ type: "rewind", sessionId, fromNativeId: this.#firstHidden })
    return captures
  }

  #isHidden(messageId: string, partId: string): boolean {
    const { revert } = this.#session
    if (!revert || messageId < revert.messageId) return false
    return messageId > revert.messageId || revert.partId === undefined || partId >= revert.partId
  }
}

type PartCapture = Omit<TurnCapture, "sessionId"> | SkippedCapture

const SIDE_DATA = new Set(["file", "patch", "snapshot", "step-start", "step-finish", "agent", "retry"])
/** Version 2's messages for the model, and records of choices: nobody's words. */
for (const type of ["synthetic", "system", "skill", "idle", "unfinished compaction"]) SIDE_DATA.add(type)
SIDE_DATA.add(OVER_LIMIT.cell)
for (const what of ["agent", "model", "location"]) SIDE_DATA.add(`${what}-switched`)

function partCaptures(part: Json, nativeId: string, message: Json): PartCapture[] {
  const type = asString(part.type) ?? "part"
  const atMs = asNumber(asObject(part.time)?.start)
  const text = asString(part.text) ?? ""
  const time = atMs === undefined ? {} : { atMs }
  if (type === "tool") return toolCaptures(part, nativeId)
  if (type === "text") {
    if (part.synthetic === true || part.ignored === true) return [skipped("synthetic text")]
    const kind = message.role === "user" ? "prompt" : message.summary === true ? "summary" : "reply"
    const said = kind === "prompt" ? withoutInjected(text) : kind === "summary" ? bareSummary(text) : text
    if (said === "" && text !== "") return [skipped("context")]
    return said.trim() === "" ? [] : [{ type: "turn", nativeId, kind, text: said, ...time }]
  }
  if (type === "reasoning")
    return text.trim() === "" ? [] : [{ type: "turn", nativeId, kind: "reasoning", text, ...time }]
  if (type === "subtask") return [{ type: "turn", nativeId, kind: "prompt", text: asString(part.prompt) ?? "" }]
  if (type === "compaction")
    // Stored with every compaction: another wording would change what is read again.
    return [{ type: "turn", nativeId, kind: "reset", text: part.auto === true ? "Compacted by itself" : "Compacted" }]
  return [skipped(type, !SIDE_DATA.has(type))]
}

function toolCaptures(part: Json, nativeId: string): PartCapture[] {
  const state = asObject(part.state) ?? {}
  // The input is still being written.
  if (state.status === "pending") return []
  const time = asObject(state.time)
  const [start, end] = [asNumber(time?.start), asNumber(time?.end)]
  const common = { type: "turn" as const, toolName: asString(part.tool) ?? "", toolCallId: asString(part.callID) ?? "" }
  const input = JSON.stringify(state.input ?? {})
  const call: PartCapture = { ...common, nativeId, kind: "tool_call", text: input, ...defined({ atMs: start }) }
  if (state.status !== "completed" && state.status !== "error") return [call]
  const isError = state.status === "error" || undefined
  const text = asString(isError ? state.error : state.output) ?? ""
  const result = { ...common, nativeId: `${nativeId}:result`, kind: "tool_result" as const, text }
  return [call, { ...result, ...defined({ atMs: end, isError }) }]
}

/** Zeros until the message is complete. */
function usageOf({ time, tokens, cost }: Json): Usage | undefined {
  const counts = asObject(tokens)
  if (!counts || asObject(time)?.completed === undefined) return undefined
  return defined({
    inputTokens: asNumber(counts.input) ?? 0,
    outputTokens: (asNumber(counts.output) ?? 0) + (asNumber(counts.reasoning) ?? 0),
    cachedTokens: asNumber(asObject(counts.cache)?.read) ?? 0,
    costUsd: asNumber(cost),
  })
}

export interface FoundSession {
  capture: SessionCapture
  revert: { messageId: string; partId: string | undefined } | undefined
}

export type Described = Record<"parent" | "directory" | "title" | "version" | "created", unknown> & { fork?: unknown }

export function described(sessionId: string, info: Described): SessionCapture {
  const [parent, fork] = [asString(info.parent), asString(info.fork)]
  const named = asString(info.title) ?? ""
  // A placeholder until a title is generated.
  const generated = /^(New|Child) session - \d{4}-/.test(named) ? undefined : named
  const original = parent || fork
  return sessionOf(sessionId, {
    projectPath: asString(info.directory) || undefined,
    title: titled({ generated }),
    agentVersion: asString(info.version) || undefined,
    startedAtMs: asNumber(info.created),
    parent: original ? { sessionId: original, kind: parent ? "subagent" : "fork" } : undefined,
  })
}

export function revertOf(revert: Json | undefined): FoundSession["revert"] {
  const messageId = asString(revert?.messageID)
  return messageId === undefined ? undefined : { messageId, partId: asString(revert?.partID) }
}

export interface Message {
  id: string
  data: Json
  createdAt: number | undefined
  parts: { id: string; data: Json; createdAt: number | undefined }[]
}
