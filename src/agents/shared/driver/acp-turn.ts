import type { DriverCan, PermissionAnswer, PermissionRequest, TurnEnd } from "../../../domain/driver.ts"
import { type DriverTurn, type DriverTurns, inOneLine } from "./turn.ts"

/** Translates a session's updates into events of the running turn. */
export interface AcpTurnReader {
  update(update: AcpUpdate): void
  question(params: AcpQuestion): { question: PermissionRequest; choose(answer: PermissionAnswer): object }
  ended(turn: DriverTurn, result: AcpResult): void
}

export interface ToolCall {
  toolCallId: string
  title?: string
  kind?: string
  status?: string
  rawInput?: Record<string, unknown>
  content?: unknown
  locations?: unknown
}

interface AcpUpdate extends ToolCall {
  sessionUpdate: string
  messageId?: string
}

export interface AcpQuestion {
  toolCall: ToolCall
  options: { optionId: string; name: string; kind: string }[]
}

export interface AcpResult {
  stopReason: string
  usage?: { inputTokens: number; outputTokens: number; cachedReadTokens?: number }
  _meta?: { quota?: { token_count?: { input_tokens?: number; output_tokens?: number } } }
}

export function acpTurnReader(running: DriverTurns, can: DriverCan): AcpTurnReader {
  const tools = new Map<string, ToolCall>()
  /** For agents without message ids: a tool call ends a message. */
  let message = 0

  const started = (call: ToolCall): ToolCall => {
    const known = tools.get(call.toolCallId)
    const whole = { ...known, ...call }
    tools.set(call.toolCallId, whole)
    if (!known) {
      message += 1
      running.running?.event({
        kind: "tool",
        name: nameOf(whole),
        state: "started",
        summary: inOneLine(inputOf(whole)),
      })
    }
    return whole
  }

  return {
    update(update) {
      const turn = running.running
      if (!turn) return
      if (update.sessionUpdate === "agent_message_chunk") {
        const { text = "" } = update.content as { text?: string }
        turn.say(text, update.messageId ?? String(message))
      } else if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
        const call = started(update)
        if (update.status !== "completed" && update.status !== "failed") return
        tools.delete(update.toolCallId)
        turn.event({ kind: "tool", name: nameOf(call), state: "ended", summary: inOneLine(textsIn(update.content)) })
      }
    },
    question({ toolCall, options }) {
      const call = started(toolCall)
      const rules = can.suggestions ? options.filter(({ kind }) => kind === "allow_always") : []
      const question = {
        tool: nameOf(call),
        input: inputOf(call),
        title: call.title ?? nameOf(call),
        suggestions: rules.map((rule) => ({ label: rule.name, value: rule.optionId })),
      }
      const choose = (answer: PermissionAnswer) => {
        const kind = answer.behavior === "allow" ? "allow_once" : "reject_once"
        const rule = answer.behavior === "allow" && answer.always !== undefined ? rules[answer.always] : undefined
        const option = rule ?? options.find((option) => option.kind === kind)
        return option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" }
      }
      return { question, choose }
    },
    ended(turn, result) {
      tools.clear()
      message += 1
      if (can.usage) turn.usage = usageOf(result)
      const { stopReason } = result
      if (turn.isCancelled || stopReason === "cancelled") turn.end("cancelled")
      else if (stopReason === "end_turn") turn.end("done")
      else turn.end("failed", `the agent stopped: ${stopReason}`)
    },
  }
}

const nameOf = ({ kind, title }: ToolCall): string => kind ?? title ?? "tool"

/** Some agents omit the tool's input; then use what they show to a person. */
function inputOf({ rawInput, title, content, locations }: ToolCall): Record<string, unknown> {
  return rawInput ?? { title, content, locations }
}

function textsIn(content: unknown): string {
  if (!Array.isArray(content)) return ""
  return content.map((part: { content?: { text?: string } }) => part.content?.text ?? "").join(" ")
}

function usageOf({ usage, _meta }: AcpResult): TurnEnd["usage"] {
  const { input_tokens = 0, output_tokens = 0 } = _meta?.quota?.token_count ?? {}
  return {
    inputTokens: usage?.inputTokens ?? input_tokens,
    outputTokens: usage?.outputTokens ?? output_tokens,
    cachedTokens: usage?.cachedReadTokens ?? 0,
    costUsd: null,
  }
}
