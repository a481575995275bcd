import { after } from "../../lib/clock.ts"
import { type DriverTurn, type DriverTurns, inOneLine } from "../shared/driver/turn.ts"

/** A line that Claude Code prints; only the fields used here. `type` need not be its first key. */
export interface StreamLine {
  type?: string
  subtype?: string
  uuid?: string
  status?: string | null
  parent_tool_use_id?: string | null
  request_id?: string
  response?: { subtype: string; request_id: string; error?: string; response?: ControlAnswer }
  event?: { type: string; message?: { id: string }; delta?: { type: string; text?: string } }
  message?: { id?: string; content?: string | Part[] }
  is_error?: boolean
  result?: string
  errors?: (string | { message?: string })[]
  usage?: Record<string, number | undefined>
  total_cost_usd?: number
}

interface ControlAnswer {
  mcpServers?: { name: string; status: string }[]
}

interface Part {
  type: string
  id?: string
  name?: string
  text?: string
  input?: Record<string, unknown>
  tool_use_id?: string
  content?: unknown
}

export interface ClaudeTurnReader {
  /** A prompt was written. Claude Code echoes it under its uuid once accepted; null for a command, which has no echo. */
  sent(uuid: string | null): void
  /** "begun" if the line says that a turn has begun. */
  read(line: StreamLine): "begun" | undefined
}

/** Translates lines into events of the running turn. */
export function claudeTurnReader(running: DriverTurns): ClaudeTurnReader {
  const toolNames = new Map<string, string>()
  let streamed = ""
  let costSoFar = 0
  /** Background tasks start turns of their own: ignore everything until our prompt is echoed. */
  let waitsFor: string | null = null
  let release = () => {}

  const assistant = ({ message }: StreamLine, turn: DriverTurn) => {
    const id = message?.id ?? ""
    for (const part of partsOf(message?.content)) {
      if (part.type === "text" && streamed !== id) turn.say(part.text ?? "", id)
      if (part.type !== "tool_use") continue
      toolNames.set(part.id ?? "", part.name ?? "")
      turn.event({ kind: "tool", name: part.name ?? "", state: "started", summary: inOneLine(part.input) })
    }
  }

  const toolResults = ({ message }: StreamLine, turn: DriverTurn) => {
    for (const part of partsOf(message?.content)) {
      const name = part.type === "tool_result" ? toolNames.get(part.tool_use_id ?? "") : undefined
      if (name === undefined) continue
      toolNames.delete(part.tool_use_id ?? "")
      turn.event({ kind: "tool", name, state: "ended", summary: inOneLine(textOf(part.content)) })
    }
  }

  const ended = (line: StreamLine, turn: DriverTurn) => {
    const { usage = {}, total_cost_usd = costSoFar } = line
    const cached = usage.cache_read_input_tokens ?? 0
    turn.usage = {
      inputTokens: (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + cached,
      outputTokens: usage.output_tokens ?? 0,
      cachedTokens: cached,
      // The cost is a total since the process started.
      costUsd: total_cost_usd - costSoFar,
    }
    costSoFar = total_cost_usd
    if (line.is_error !== true) {
      if (line.result) turn.text = line.result
      turn.end("done")
    } else if (turn.isCancelled) turn.end("cancelled")
    else turn.end("failed", failureOf(line))
  }

  /** A result without our echo: another turn's end, or our prompt was rejected, and then nothing follows. */
  const hold = (line: StreamLine, turn: DriverTurn) => {
    release()
    release = after(FOLLOWS_MS, () => ended(line, turn))
  }

  return {
    sent(uuid) {
      waitsFor = uuid
      streamed = ""
    },
    read(line) {
      const turn = running.running
      if (!turn) return undefined
      const isBegun = line.type === "system" && (line.subtype === "init" || line.status === "requesting")
      if (isBegun || line.uuid === waitsFor) release()
      if (line.uuid === waitsFor) waitsFor = null
      if (waitsFor !== null) {
        if (line.type === "result") hold(line, turn)
      } else if (line.type === "result") ended(line, turn)
      else if (line.parent_tool_use_id) return undefined
      else if (line.type === "stream_event") {
        const { type, message, delta } = line.event ?? {}
        if (type === "message_start") streamed = message?.id ?? ""
        else if (delta?.type === "text_delta") turn.say(delta.text ?? "", streamed)
      } else if (line.type === "assistant") assistant(line, turn)
      else if (line.type === "user") toolResults(line, turn)
      else if (line.type === "system" && line.status === "compacting") turn.event({ kind: "compacting" })
      return isBegun ? "begun" : undefined
    },
  }
}

/** A queued turn starts within milliseconds of the previous one's end. */
const FOLLOWS_MS = 700

export function failureOf({ errors = [], result, subtype }: StreamLine): string {
  const said = errors.map((error) => (typeof error === "string" ? error : (error.message ?? JSON.stringify(error))))
  return said.join("; ") || result || subtype || "the agent gave no reason"
}

const partsOf = (content: string | Part[] | undefined): Part[] => (Array.isArray(content) ? content : [])

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.map((part: Part) => part.text ?? `[${part.type}]`).join(" ")
}
