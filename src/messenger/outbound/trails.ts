import { type Outgoing, topicLane } from "../../domain/outgoing.ts"
import type { Store } from "../../domain/store.ts"

/** No tool has run for so long: the trail is taken to be over. */
const IDLE_MS = 60_000

/** Lines that did not fit into a trail come as its file also when nothing else is said after them. */
export async function endIdleTrails(store: Store, channelId: string, home: string, nowMs: number): Promise<void> {
  const open = await store.topics.list({ channel: channelId, states: ["open"] })
  for (const topic of open) {
    if (topic.home !== home || !topic.trail || topic.trail.cut === 0 || topic.usedAtMs > nowMs - IDLE_MS) continue
    const payload: Outgoing = { kind: "trail", topicId: topic.id }
    const key = `tg:trail:${topic.id}:${topic.trail.messageId}:${topic.trail.seqs.length}`
    await store.deliveries.enqueue(
      { key, lane: topicLane(topic), channel: channelId, payload: { ...payload }, repeatable: false },
      nowMs,
    )
  }
}
