import type { ChannelTrouble } from "../../domain/channel.ts"
import type { Hold } from "../../domain/channel-store.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { CallKind } from "./budget.ts"

/** Troubles that only a person can end. */
export type LastingTrouble = Extract<ChannelTrouble, { kind: "unauthorised" | "no_topics" | "no_rights" | "no_chat" }>

/** What a hold is about: everything of the bot's, all that goes to a chat, or what makes and changes its topics. */
export type HoldScope = "bot" | "chat" | "topics"

/** Which chats are left alone for now, and since when. It is said once for each change, and tried once a minute. */
export interface HoldList {
  open(): Promise<void>
  /** From when on such a call may be made there. Who may not write may still change what was written. */
  readyAtMs(chatId: string, call: CallKind): number
  hold(scope: HoldScope, chatId: string, trouble: LastingTrouble): Promise<void>
  /** Such a call has worked. */
  endBy(call: CallKind, chatId: string): Promise<void>
  /** The chat is another one now: what held this one up is over. */
  endAll(chatId: string): Promise<void>
  /** Why no topic can be made or changed there for now. */
  ofTopics(chatId: string): Hold | undefined
  /** Why nothing can be said there for now. */
  ofChat(chatId: string): Hold | undefined
}

export interface HoldDeps {
  store: Store
  clock: Clock
  channelId: string
  botId: string
  onTrouble(error: unknown, what: string): void
}

const AGAIN_MS = 60_000

export function makeHolds({ store, clock, channelId, botId, onTrouble }: HoldDeps): HoldList {
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
    async open() {
      holds.clear()
      for (const hold of await store.holds.list(ofBot)) holds.set(hold.key, hold)
    },
    readyAtMs: (chatId, call) =>
      Math.max(
        0,
        ...SCOPES.filter((scope) => concerns(at(scope, chatId), scope, call)).map(
          (scope) => at(scope, chatId)!.nextAtMs,
        ),
      ),
    async hold(scope, chatId, { kind, why }) {
      const [key, nowMs, before] = [keyOf(scope, chatId), clock.nowMs(), at(scope, chatId)]
      const isNew = before?.kind !== kind
      const nextAtMs = nowMs + AGAIN_MS
      const hold = { key, kind, why, sinceMs: isNew ? nowMs : before.sinceMs, nextAtMs }
      const data = { channel: channelId, botId, chatId: scope === "bot" ? null : chatId, trouble: kind, why }
      holds.set(key, hold)
      // Whatever else waits there has been tried by this, too.
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
    async endBy(call, chatId) {
      for (const scope of SCOPES) if (concerns(at(scope, chatId), scope, call)) await end(scope, chatId)
    },
    async endAll(chatId) {
      for (const scope of ["chat", "topics"] as const) await end(scope, chatId)
    },
    ofTopics: (chatId) => at("topics", chatId),
    ofChat: (chatId) => at("chat", chatId),
  }
}

const SCOPES: readonly HoldScope[] = ["bot", "chat", "topics"]

const concerns = (hold: Hold | undefined, scope: HoldScope, call: CallKind): boolean => {
  if (!hold) return false
  if (hold.kind === "unauthorised" || hold.kind === "no_chat" || call === "topic") return true
  return scope === "chat" && call === "send"
}
