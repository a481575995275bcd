import type { SessionId } from "../../domain/ids.ts"
import { lanesOf, messageOf } from "../../domain/message.ts"
import { TAP, topicLane } from "../../domain/outgoing.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Topic } from "../../domain/topic.ts"
import { toShow } from "./answers.ts"

/** Whoever wrote to a session that ended can have it go on. Said once for all that waits, by who finds it out first. */
export async function offerResume(
  tx: Store,
  { topic, sessionId, nowMs }: { topic: Topic; sessionId: SessionId; nowMs: number },
): Promise<void> {
  const waiting = await tx.deliveries.ofLanes(lanesOf({ sessionId }), { states: ["queued"] })
  const first = waiting.find((delivery) => messageOf(delivery).origin?.channel === topic.channel)
  if (!first) return
  const buttons = [[{ label: "Resume", data: `${TAP.resume}:${sessionId}` }]]
  const note = { kind: "note" as const, topicId: topic.id, body: plain(ASLEEP), isPing: false, buttons }
  await tx.deliveries.enqueue(toShow(topic.channel, `asleep:${topic.id}:${first.key}`, topicLane(topic), note), nowMs)
}

const ASLEEP = "The session has ended. What you write is kept, and handed over when it goes on."
