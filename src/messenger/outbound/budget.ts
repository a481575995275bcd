import type { ChannelCan } from "../../domain/channel.ts"
import type { Budget } from "../../domain/channel-store.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { MINUTE_MS } from "../../lib/time.ts"
/** Calls with separate rate limits. */
export type CallKind = "send" | "edit" | "react" | "topic"

export interface BudgetDeps {
  store: Store
  clock: Clock
  can: ChannelCan
  botId: string
  isGroup(chatId: string): boolean
}

/** The messenger's minute is shifted: a call takes a while to arrive. */
const MARGIN_MS = 300
const KINDS: readonly CallKind[] = ["send", "edit", "react", "topic"]

export type ChatBudget = Awaited<ReturnType<typeof openBudget>>

/** The rate limits of one chat. Stored, so that a restart sends no burst. */
export async function openBudget(deps: BudgetDeps, chatId: string) {
  const { store, clock, can } = deps
  const key = (kind: CallKind) => `${kind}:${deps.botId}:${chatId}`
  const found = await Promise.all(KINDS.map(async (kind) => [kind, await store.budgets.get(key(kind))] as const))
  const budgets = Object.fromEntries(found) as Record<CallKind, Budget>
  const sends = deps.isGroup(chatId) ? can.groupSendsPerMinute : can.privateSendsPerMinute
  const most: Record<CallKind, number> = {
    send: sends,
    edit: can.editsPerMinute,
    // The limit of reactions is undocumented: use that of edits.
    react: can.editsPerMinute,
    topic: Math.min(sends, can.topicCallsPerMinute),
  }

  const recent = (kind: CallKind) => {
    const sinceMs = clock.nowMs() - MINUTE_MS - MARGIN_MS
    budgets[kind].sentAtMs = budgets[kind].sentAtMs.filter((atMs) => atMs > sinceMs)
    return budgets[kind].sentAtMs
  }
  const put = (tx: Store, kind: CallKind) => tx.budgets.put(key(kind), budgets[kind])

  return {
    /** The earliest time of a call that leaves `keep` calls for more urgent ones. */
    readyAtMs(kind: CallKind, keep: number): number {
      const sent = recent(kind)
      const allowed = Math.max(1, most[kind] - keep)
      const isFull = sent.length >= allowed
      return Math.max(
        budgets.send.blockedUntilMs,
        budgets[kind].blockedUntilMs,
        isFull ? sent.at(-allowed)! + MINUTE_MS + MARGIN_MS : 0,
        kind === "send" && sent.length > 0 ? sent.at(-1)! + can.sendGapMs : 0,
      )
    },
    /** Calls left in this minute. */
    left: (kind: CallKind, keep: number) => Math.max(0, most[kind] - keep - recent(kind).length),
    /** Before the call, in the transaction that begins it. */
    async spend(tx: Store, kind: CallKind): Promise<void> {
      budgets[kind].sentAtMs = [...recent(kind), clock.nowMs()]
      await put(tx, kind)
    },
    /** The answer has arrived: the messenger has counted the call by now. */
    arrived(kind: CallKind): void {
      budgets[kind].sentAtMs = [...budgets[kind].sentAtMs.slice(0, -1), clock.nowMs()]
    },
    /** In the transaction that settles the call. */
    save: put,
    /** The messenger asked to wait: with this kind; after a send or an edit, with every kind. */
    async block(kind: CallKind, untilMs: number): Promise<void> {
      // Topics and reactions have flood limits of their own, which must not keep an approval request from being sent.
      const of = kind === "topic" || kind === "react" ? kind : "send"
      budgets[of].blockedUntilMs = Math.max(budgets[of].blockedUntilMs, untilMs)
      await put(store, of)
    },
    get blockedUntilMs(): number {
      return budgets.send.blockedUntilMs
    },
  }
}
