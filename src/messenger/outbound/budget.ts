/** Calls that are counted apart from each other. */
import type { ChannelCan } from "../../domain/channel.ts"
import type { Budget } from "../../domain/channel-store.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { MINUTE_MS } from "../../lib/time.ts"
export type CallKind = "send" | "edit" | "react" | "topic"

/** How much may go to one chat, and when. What was spent is kept, so that a restart sends no burst. */
export interface ChatBudget {
  /** From when on a call may be made that leaves so many for what is more urgent. */
  readyAtMs(kind: CallKind, keep: number): number
  /** How many may still be made in this minute. */
  left(kind: CallKind, keep: number): number
  /** Before the call, in the transaction that says that it is made. */
  spend(tx: Store, kind: CallKind): Promise<void>
  /** The answer has come: the messenger has counted it by now, and not later. */
  arrived(kind: CallKind): void
  /** In the transaction that says how it went. */
  save(tx: Store, kind: CallKind): Promise<void>
  /** The messenger said so: nothing of this kind before then; after a send or an edit, nothing of any kind. */
  block(kind: CallKind, untilMs: number): Promise<void>
  readonly blockedUntilMs: number
}

export interface BudgetDeps {
  store: Store
  clock: Clock
  can: ChannelCan
  botId: string
  isGroup(chatId: string): boolean
}

/** The messenger's minute is not quite ours: a call takes a while to get there. */
const MARGIN_MS = 300
const KINDS: readonly CallKind[] = ["send", "edit", "react", "topic"]

export async function openBudget(deps: BudgetDeps, chatId: string): Promise<ChatBudget> {
  const { store, clock, can } = deps
  const key = (kind: CallKind) => `${kind}:${deps.botId}:${chatId}`
  const found = await Promise.all(KINDS.map(async (kind) => [kind, await store.budgets.get(key(kind))] as const))
  const budgets = Object.fromEntries(found) as Record<CallKind, Budget>
  const sends = deps.isGroup(chatId) ? can.groupSendsPerMinute : can.privateSendsPerMinute
  const most: Record<CallKind, number> = {
    send: sends,
    edit: can.editsPerMinute,
    // Nothing is told of reactions: what holds for edits will do.
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
    readyAtMs(kind, keep) {
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
    left: (kind, keep) => Math.max(0, most[kind] - keep - recent(kind).length),
    async spend(tx, kind) {
      budgets[kind].sentAtMs = [...recent(kind), clock.nowMs()]
      await put(tx, kind)
    },
    arrived(kind) {
      budgets[kind].sentAtMs = [...budgets[kind].sentAtMs.slice(0, -1), clock.nowMs()]
    },
    save: put,
    async block(kind, untilMs) {
      // Topics and reactions have flood limits of their own, which must not keep an approval request from being sent.
      const of = kind === "topic" || kind === "react" ? kind : "send"
      budgets[of].blockedUntilMs = Math.max(budgets[of].blockedUntilMs, untilMs)
      await put(store, of)
    },
    get blockedUntilMs() {
      return budgets.send.blockedUntilMs
    },
  }
}
