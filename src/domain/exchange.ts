import type { Metadata } from "./metadata.ts"
import type { Turn } from "./turn.ts"

/** A prompt and everything up to the next one: the unit people search and resume by. */
export interface Exchange {
  /** Ours: the first turn's number. */
  id: string
  user: string
  ai: string
  tools: string[]
  metadata?: Metadata
  atMs: number
  endedAtMs: number
}

/** Turns must be in the order of the conversation. What comes before the first prompt makes an exchange without one. */
export function exchangesOf(turns: readonly Turn[]): Exchange[] {
  const exchanges: Exchange[] = []
  let current: Exchange | undefined
  for (const turn of turns) {
    if (turn.kind === "prompt" || !current) {
      current = { id: String(turn.seq), user: "", ai: "", tools: [], atMs: turn.atMs, endedAtMs: turn.atMs }
      exchanges.push(current)
    }
    current.endedAtMs = turn.atMs
    if (turn.metadata !== undefined) current.metadata ??= turn.metadata
    if (turn.kind === "prompt") current.user = turn.text
    else if (turn.kind === "reply" || turn.kind === "summary")
      current.ai = current.ai === "" ? turn.text : `${current.ai}\n\n${turn.text}`
    else if (turn.kind === "tool_call" && turn.toolName !== null) current.tools.push(turn.toolName)
  }
  return exchanges
}
