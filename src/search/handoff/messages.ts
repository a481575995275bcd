import type { HandoffMessage } from "../../domain/handoff.ts"
import { isUntrusted } from "../../domain/origin.ts"
import type { Store } from "../../domain/store.ts"
import { clip } from "../../domain/text.ts"
import type { TokenCounter } from "../../domain/tokens.ts"
import type { Turn } from "../../domain/turn.ts"
import { defined } from "../../lib/defined.ts"
import { withoutBoilerplate } from "../brief/gather.ts"
import { cutToTokens } from "../brief/pack.ts"
import type { ConversationPart } from "../query/lineage.ts"

/** The newest turns; more do not fit into any model. */
const MOST_TURNS = 6_000
const CALL_CHARS = 2_000
const NOTE_CHARS = 120

/** The conversation as messages, oldest first, with tool calls as short notes. */
export async function messagesOf(store: Store, parts: readonly ConversationPart[]): Promise<HandoffMessage[]> {
  const messages: HandoffMessage[] = []
  for (const { session, untilMs } of parts) {
    const query = { limit: MOST_TURNS, ...defined({ untilMs }) }
    const [talk, work] = [
      await store.turns.ofSession(session.id, { ...query, kinds: ["prompt", "reply", "summary"] }),
      await store.turns.ofSession(session.id, { ...query, kinds: ["tool_call", "tool_result"], maxChars: CALL_CHARS }),
    ]
    const results = new Map(work.filter(({ kind }) => kind === "tool_result").map((turn) => [turn.toolCallId, turn]))
    const turns = [...talk, ...work.filter(({ kind }) => kind === "tool_call")]
    for (const stored of turns.sort((a, b) => a.atMs - b.atMs || a.seq - b.seq)) {
      const turn = withoutBoilerplate(stored)
      const by = turn.kind === "prompt" || turn.kind === "summary" ? "person" : "agent"
      const text = textOf(turn, results)
      const last = messages.at(-1)
      if (text === "") continue
      const isMarked = isUntrusted(session)
      const isSame = by === "agent" && last?.by === "agent" && (last.isUntrusted ?? false) === isMarked
      if (isSame) last!.text += `\n\n${text}`
      else messages.push({ by, text, atMs: turn.atMs, ...(isMarked ? { isUntrusted: true } : {}) })
    }
  }
  return messages
}

function textOf(turn: Turn, results: ReadonlyMap<string | null, Turn>): string {
  if (turn.kind === "tool_call") return noteOf(turn, results.get(turn.toolCallId))
  const text = turn.text.trim()
  // Agents pass their summary to the model as a user message; mark it as neither's own words.
  return turn.kind === "summary" && text !== "" ? `[Summary made when the context was full:\n${text}]` : text
}

function noteOf(call: Turn, result: Turn | undefined): string {
  const input = clip(call.text, NOTE_CHARS)
  const output = result && clip(result.text, NOTE_CHARS)
  return `[${call.toolName ?? "tool"} ${input}${output ? ` → ${result.isError ? "failed: " : ""}${output}` : ""}]`
}

/** The newest messages that fit, starting with a prompt, and how many were left out. An oversized last exchange is cut. */
export function newestFitting(
  messages: readonly HandoffMessage[],
  budget: number,
  tokens: TokenCounter,
): { kept: HandoffMessage[]; leftOut: number } {
  const kept: HandoffMessage[] = []
  let left = budget
  for (const message of messages.toReversed()) {
    const cost = tokens.fitting(message.text, left) < message.text.length ? left + 1 : tokens.count(message.text)
    if (cost > left) break
    left -= cost
    kept.unshift(message)
  }
  while (kept.length > 0 && kept[0]!.by === "agent" && kept.length < messages.length) kept.shift()
  if (kept.length === 0 && messages.length > 0) {
    const from = messages.findLastIndex(({ by }) => by === "person")
    const exchange = messages.slice(Math.max(0, from))
    const share = Math.floor(budget / exchange.length)
    for (const message of exchange) kept.push({ ...message, text: cutToTokens(message.text, share, tokens) })
  }
  return { kept: kept.filter(({ text }) => text !== ""), leftOut: messages.length - kept.length }
}
