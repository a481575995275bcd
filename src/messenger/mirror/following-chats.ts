import type { SessionId } from "../../domain/ids.ts"
import type { Store } from "../../domain/store.ts"
import type { Telling } from "./telling.ts"

const TOPIC_LANE = /^topic:([^!]+)/

/** After a team's chat was changed: moves pending messages and approval requests to the session's new place. */
export async function followChats(tx: Store, telling: Pick<Telling, "find">, channel: string): Promise<void> {
  const sessions = new Set<SessionId>()
  const topics = new Set<string>()
  for (const { lane, state } of await tx.deliveries.counts(channel)) {
    const id = state === "queued" ? TOPIC_LANE.exec(lane)?.[1] : undefined
    if (id !== undefined) topics.add(id)
  }
  for (const id of topics) {
    const topic = await tx.topics.byId(id)
    if (topic?.sessionId) sessions.add(topic.sessionId)
  }
  for (const { sessionId } of await tx.permissions.waiting()) if (sessionId !== null) sessions.add(sessionId)
  for (const id of sessions) {
    const session = await tx.sessions.byId(id)
    if (session) await telling.find(tx, session)
  }
}
