import type { Channel, ChannelSelf, IncomingMessage } from "../../domain/channel.ts"
import type { Clock } from "../../lib/clock.ts"

export interface ElectionDeps {
  clock: Clock
  channel: Channel
  botId: string
  self(): Promise<ChannelSelf>
}

const KNOWN_MS = 5 * 60_000
const PASSING = new Set(["away", "unclear", "wait"])

/**
 * Which of several bots in one group answers messages to nobody in particular: the admin with the lowest id.
 * Each bot can decide this alone, so the machines need not know each other.
 */
export function makeElection({ clock, channel, botId, self }: ElectionDeps) {
  const known = new Map<string, { isElected: boolean; atMs: number }>()

  /** Undefined while the messenger is unreachable. */
  const isElected = async (chatId: string): Promise<boolean | undefined> => {
    const before = known.get(chatId)
    if (before && clock.nowMs() - before.atMs < KNOWN_MS) return before.isElected
    const told = await channel.look(chatId)
    if (!told.ok) return PASSING.has(told.trouble.kind) ? undefined : (before?.isElected ?? true)
    const ids = told.value.adminBots.map(Number)
    const first = ids.length === 0 || Math.min(...ids) === Number(botId)
    known.set(chatId, { isElected: first, atMs: clock.nowMs() })
    return first
  }

  return {
    /** Whether this bot is meant; undefined where none is named. */
    async isNamed({ text, replyTo }: IncomingMessage): Promise<boolean | undefined> {
      const name = /^\/\w+@(\w+)/.exec(text)?.[1]
      if (name !== undefined) return name.toLowerCase() === (await self()).username.toLowerCase()
      return replyTo?.isOurs ? true : undefined
    },
    isElected,
  }
}

export type Election = ReturnType<typeof makeElection>
