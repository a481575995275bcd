import type { Hold } from "../../domain/channel-store.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"

/** How it is with what is to be said in a messenger, for people. */
export interface OutboxStatus {
  waiting: number
  /** Never taken, in any form. */
  failed: number
  /** It will never be known whether they arrived. */
  uncertain: number
  /** Chats that are left alone, and why. */
  holds: Hold[]
  /** Of which one may have been made that nobody knows the number of: it stands in the chat, empty, under this name. */
  orphans: Pick<Topic, "id" | "chatId" | "name" | "unconfirmed">[]
}

export interface StatusDeps {
  store: Store
  channelId: string
  botId: string
  home: string
}

export async function statusOf({ store, channelId, botId, home }: StatusDeps): Promise<OutboxStatus> {
  const counts = await store.deliveries.counts(channelId)
  const sum = (state: string) => counts.reduce((all, one) => all + (one.state === state ? one.count : 0), 0)
  const topics = await store.topics.list({ channel: channelId })
  return {
    waiting: sum("queued"),
    failed: sum("failed"),
    uncertain: sum("uncertain"),
    holds: await store.holds.list(`${channelId}:${botId}`),
    orphans: topics
      .filter((topic) => topic.home === home && topic.unconfirmed > 0)
      .map(({ id, chatId, name, unconfirmed }) => ({ id, chatId, name, unconfirmed })),
  }
}
