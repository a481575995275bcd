import type { Channel, ChannelTrouble } from "../../domain/channel.ts"
import { type BudgetDeps, type ChatBudget, openBudget } from "./budget.ts"
import type { HoldList, HoldScope, LastingTrouble } from "./holds.ts"
import type { Step } from "./steps.ts"

const BACK_OFF_MS = 1_000
const MOST_BACK_OFF_MS = 60_000

export type Chats = ReturnType<typeof makeChats>

/** When each chat may be written to, and what follows from how a call went. */
export function makeChats(deps: BudgetDeps & { channel: Channel; holds: HoldList }) {
  const { store, clock, channel, holds } = deps
  const budgets = new Map<string, Promise<ChatBudget>>()
  const moved = new Map<string, string>()
  // An unreachable messenger is unreachable for all chats.
  let backOffMs = 0
  let awayUntilMs = 0

  const budget = (chatId: string) => {
    const found = budgets.get(chatId) ?? openBudget(deps, chatId)
    budgets.set(chatId, found)
    return found
  }

  return {
    budget,
    /** The earliest time of any call to the chat. */
    readyAtMs: async (chatId: string) => Math.max(awayUntilMs, (await budget(chatId)).blockedUntilMs),
    /** The earliest time of this call. */
    async stepAtMs(chatId: string, { call, keep, notBeforeMs }: Pick<Step, "call" | "keep" | "notBeforeMs">) {
      return Math.max(notBeforeMs, holds.readyAtMs(chatId, call), (await budget(chatId)).readyAtMs(call, keep))
    },
    /** Takes the result of each call into account. */
    async heed(chatId: string, call: Step["call"], trouble: ChannelTrouble | undefined): Promise<void> {
      if (trouble?.kind === "away" || trouble?.kind === "unclear" || trouble?.kind === "conflict") {
        backOffMs = Math.min(MOST_BACK_OFF_MS, Math.max(BACK_OFF_MS, backOffMs * 2))
        awayUntilMs = clock.nowMs() + backOffMs
        return
      }
      if (trouble?.kind === "unchanged") return
      backOffMs = 0
      if (trouble?.kind === "wait") return (await budget(chatId)).block(call, clock.nowMs() + trouble.forMs)
      if (trouble?.kind === "no_chat" && trouble.movedTo !== undefined) {
        moved.set(chatId, trouble.movedTo)
        await holds.endAll(chatId)
        return store.topics.moveChat(channel.id, chatId, trouble.movedTo)
      }
      if (trouble && isLasting(trouble)) return holds.hold(scopeOf(trouble, call), chatId, trouble)
      if (trouble) return
      await holds.endBy(call, chatId)
    },
    /** The chat's current id: groups can move. */
    now: (chatId: string) => moved.get(chatId) ?? chatId,
  }
}

const isLasting = (trouble: ChannelTrouble): trouble is LastingTrouble =>
  ["unauthorised", "no_topics", "no_rights", "no_chat"].includes(trouble.kind)

function scopeOf({ kind }: ChannelTrouble, call: Step["call"]): HoldScope {
  if (kind === "unauthorised") return "bot"
  return call === "topic" && kind !== "no_chat" ? "topics" : "chat"
}
