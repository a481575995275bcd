import type { ChannelTrouble } from "../../domain/channel.ts"
import type { Hold } from "../../domain/channel-store.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { CallKind } from "./budget.ts"

/** Troubles that only a person can fix. */
export type LastingTrouble = Extract<ChannelTrouble, { kind: "unauthorised" | "no_topics" | "no_rights" | "no_chat" }>

/** A hold applies to the bot, to everything sent to a chat, or to calls that change the chat's topics. */
export type HoldScope = "bot" | "chat" | "topics"

export interface HoldDeps {
  store: Store
  clock: Clock
  channelId: string
  botId: string
  onTrouble(error: unknown, what: string): void
}

const AGAIN_MS = 60_000

export type HoldList = ReturnType<typeof makeHolds>

/** Which chats are on hold, and since when. A change is reported once, and a chat on hold is retried once a minute. */
export function makeHolds({ store, clock, channelId, botId, onTrouble }: HoldDeps) {
  const ofBot = `${channelId}:${botId}`
  const holds = new Map<string, Hold>()
  const keyOf = (scope: HoldScope, chatId: string) =>
    scope === "bot" ? ofBot : scope === "chat" ? `${ofBot}:${chatId}` : `${ofBot}:${chatId}:topics`
  const at = (scope: HoldScope, chatId: string) => holds.get(keyOf(scope, chatId))

  const end = async (scope: HoldScope, chatId: string) => {
    const hold = at(scope, chatId)
    if (!hold) return
    holds.delete(hold.key)
    const data = { channel: channelId, botId, chatId: scope === "bot" ? null : chatId, trouble: hold.kind }
    await store.transaction(async (tx) => {
      await tx.holds.remove(hold.key)
      await tx.journal.append([{ kind: "channel.fine", atMs: clock.nowMs(), data }])
    })
  }

  return {
    async open(): Promise<void> {
      holds.clear()
      for (const hold of await store.holds.list(ofBot)) holds.set(hold.key, hold)
    },
    /** The earliest time of such a call. A bot that may not send may still edit. */
    readyAtMs: (chatId: string, call: CallKind) =>
      Math.max(
        0,
        ...SCOPES.filter((scope) => concerns(at(scope, chatId), scope, call)).map(
          (scope) => at(scope, chatId)!.nextAtMs,
        ),
      ),
    async hold(scope: HoldScope, chatId: string, { kind, why }: LastingTrouble): Promise<void> {
      const [key, nowMs, before] = [keyOf(scope, chatId), clock.nowMs(), at(scope, chatId)]
      const isNew = before?.kind !== kind
      const nextAtMs = nowMs + AGAIN_MS
      const hold = { key, kind, why, sinceMs: isNew ? nowMs : before.sinceMs, nextAtMs }
      const data = { channel: channelId, botId, chatId: scope === "bot" ? null : chatId, trouble: kind, why }
      holds.set(key, hold)
      // This attempt counts for the chat's other holds too.
      for (const other of SCOPES) {
        const found = at(other, chatId)
        if (found && found.nextAtMs < nextAtMs) found.nextAtMs = nextAtMs
      }
      await store.transaction(async (tx) => {
        await tx.holds.put(hold)
        if (isNew) await tx.journal.append([{ kind: "channel.trouble", atMs: nowMs, data }])
      })
      if (isNew) onTrouble(new Error(why), `${channelId}: ${scope === "bot" ? "the bot" : chatId} is on hold: ${kind}`)
    },
    /** Such a call has worked. */
    async endBy(call: CallKind, chatId: string): Promise<void> {
      for (const scope of SCOPES) if (concerns(at(scope, chatId), scope, call)) await end(scope, chatId)
    },
    /** The chat has moved: its holds are over. */
    async endAll(chatId: string): Promise<void> {
      for (const scope of ["chat", "topics"] as const) await end(scope, chatId)
    },
    /** Why no topic can be created or changed there. */
    ofTopics: (chatId: string) => at("topics", chatId),
    /** Why nothing can be sent there. */
    ofChat: (chatId: string) => at("chat", chatId),
  }
}

const SCOPES: readonly HoldScope[] = ["bot", "chat", "topics"]

const concerns = (hold: Hold | undefined, scope: HoldScope, call: CallKind): boolean => {
  if (!hold) return false
  if (hold.kind === "unauthorised" || hold.kind === "no_chat" || call === "topic") return true
  return scope === "chat" && call === "send"
}
