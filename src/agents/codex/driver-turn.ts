import { type DriverTurns, inOneLine } from "../shared/driver/turn.ts"

/** Translates a thread's notifications into events of the running turn. */
export interface CodexTurnReader {
  /** A turn was requested. `onId` is called when its id is known and again when it runs: it cannot be interrupted before. */
  begin(onId: (turnId: string) => void): void
  begun(turnId: string): void
  readonly turnId: string | undefined
  read(method: string, params: Record<string, unknown>): void
  /** The item of an approval request, which may only name it. */
  item(id: string): Item | undefined
}

export interface Item {
  id: string
  type: string
  text?: string
  command?: string
  changes?: unknown
  server?: string
  tool?: string
  arguments?: unknown
  aggregatedOutput?: string | null
  result?: unknown
  error?: unknown
}

interface Notice {
  item?: Item
  itemId?: string
  delta?: string
  turn?: { id: string; status: string; error?: { message: string; additionalDetails?: string | null } | null }
  error?: { message: string; additionalDetails?: string | null }
  willRetry?: boolean
  tokenUsage?: { total: Tokens; last: Tokens }
}

interface Tokens {
  totalTokens: number
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
}

export function codexTurnReader(running: DriverTurns): CodexTurnReader {
  const items = new Map<string, Item>()
  const streamed = new Set<string>()
  let turnId: string | undefined
  let onId: (turnId: string) => void = () => {}
  let totalTokens = -1

  const begun = (id: string) => {
    if (!running.running) return
    turnId = id
    onId(id)
  }

  const read = (method: string, params: Record<string, unknown>) => {
    const notice = params as Notice
    const turn = running.running
    const { item } = notice
    if (!turn) return
    if (method === "turn/started") begun(notice.turn!.id)
    else if (method === "item/agentMessage/delta") {
      streamed.add(notice.itemId!)
      turn.say(notice.delta ?? "", notice.itemId!)
    } else if (method === "item/started" && item) {
      items.set(item.id, item)
      if (item.type === "contextCompaction") turn.event({ kind: "compacting" })
      const tool = toolOf(item)
      if (tool) turn.event({ kind: "tool", ...tool, state: "started" })
    } else if (method === "item/completed" && item) {
      if (item.type === "agentMessage" && !streamed.has(item.id)) turn.say(item.text ?? "", item.id)
      const tool = toolOf(item)
      const came = item.aggregatedOutput ?? item.error ?? item.result ?? ""
      if (tool) turn.event({ kind: "tool", name: tool.name, state: "ended", summary: inOneLine(came) })
    } else if (method === "thread/tokenUsage/updated") {
      const { total, last } = notice.tokenUsage!
      // The same count may come twice.
      if (total.totalTokens === totalTokens) return
      totalTokens = total.totalTokens
      turn.usage = {
        inputTokens: (turn.usage?.inputTokens ?? 0) + last.inputTokens,
        outputTokens: (turn.usage?.outputTokens ?? 0) + last.outputTokens,
        cachedTokens: (turn.usage?.cachedTokens ?? 0) + last.cachedInputTokens,
        costUsd: null,
      }
    } else if (method === "error" && !notice.willRetry) turn.error = wordsOf(notice.error)
    else if (method === "turn/completed" && (turnId === undefined || notice.turn!.id === turnId)) {
      turnId = undefined
      const { status, error } = notice.turn!
      if (turn.isCancelled || status === "interrupted") turn.end("cancelled")
      else if (status === "completed") turn.end("done")
      else turn.end("failed", wordsOf(error ?? undefined))
    }
  }

  return {
    begin(told) {
      turnId = undefined
      onId = told
      items.clear()
      streamed.clear()
    },
    begun,
    get turnId() {
      return turnId
    },
    read,
    item: (id) => items.get(id),
  }
}

function toolOf(item: Item): { name: string; summary: string } | undefined {
  if (item.type === "commandExecution") return { name: "shell", summary: inOneLine(item.command) }
  if (item.type === "fileChange") return { name: "apply_patch", summary: inOneLine(item.changes) }
  if (item.type === "mcpToolCall") return { name: `${item.server}.${item.tool}`, summary: inOneLine(item.arguments) }
  return undefined
}

function wordsOf(error: Notice["error"]): string | null {
  if (!error) return null
  return error.additionalDetails ? `${error.message}: ${error.additionalDetails}` : error.message
}
