import type { Channel, ChannelTrouble } from "../../domain/channel.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { type BudgetDeps, type ChatBudget, openBudget } from "./budget.ts"
import type { HoldList, HoldScope, LastingTrouble } from "./holds.ts"
import type { Step } from "./steps.ts"

/** When a chat may be written to, and what follows from how that went. */
export interface Chats {
  budget(chatId: string): Promise<ChatBudget>
  /** From when on anything at all may be tried there. */
  readyAtMs(chatId: string): Promise<number>
  /** From when on this may be done. */
  stepAtMs(chatId: string, step: Pick<Step, "call" | "keep" | "notBeforeMs">): Promise<number>
  /** The call was made. */
  heed(chatId: string, call: Step["call"], trouble: ChannelTrouble | undefined): Promise<void>
  /** Where the chat is now: groups become other ones. */
  now(chatId: string): string
}

const BACK_OFF_MS = 1_000
const MOST_BACK_OFF_MS = 60_000

export interface ChatDeps extends BudgetDeps {
  store: Store
  clock: Clock
  channel: Channel
  holds: HoldList
}

export function makeChats(deps: ChatDeps): Chats {
  const { store, clock, channel, holds } = deps
  const budgets = new Map<string, Promise<ChatBudget>>()
  const moved = new Map<string, string>()
  // The messenger was not reached: that is so for all chats.
  let backOffMs = 0
  let awayUntilMs = 0

  const budget = (chatId: string) => {
    const found = budgets.get(chatId) ?? openBudget(deps, chatId)
    budgets.set(chatId, found)
    return found
  }

  const heed: Chats["heed"] = async (chatId, call, trouble) => {
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
  }

  return {
    budget,
    readyAtMs: async (chatId) => Math.max(awayUntilMs, (await budget(chatId)).blockedUntilMs),
    async stepAtMs(chatId, { call, keep, notBeforeMs }) {
      return Math.max(notBeforeMs, holds.readyAtMs(chatId, call), (await budget(chatId)).readyAtMs(call, keep))
    },
    heed,
    now: (chatId) => moved.get(chatId) ?? chatId,
  }
}

const isLasting = (trouble: ChannelTrouble): trouble is LastingTrouble =>
  ["unauthorised", "no_topics", "no_rights", "no_chat"].includes(trouble.kind)

function scopeOf({ kind }: ChannelTrouble, call: Step["call"]): HoldScope {
  if (kind === "unauthorised") return "bot"
  return call === "topic" && kind !== "no_chat" ? "topics" : "chat"
}
