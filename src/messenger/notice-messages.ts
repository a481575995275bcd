import type { Delivery } from "../domain/delivery.ts"
import { lanesOf, messageOf } from "../domain/message.ts"
import type { Store } from "../domain/store.ts"
import type { WaitNotice } from "../domain/wait-notice.ts"

/** More than a person writes while a session is not running. */
const MOST_MESSAGES = 200

/** The messages from the messenger that the notice is about, in order. */
export async function messagesOfNotice(
  store: Pick<Store, "deliveries">,
  { channel, sessionId, firstSeq, lastSeq }: Pick<WaitNotice, "channel" | "sessionId" | "firstSeq" | "lastSeq">,
): Promise<Delivery[]> {
  const found = await store.deliveries.ofLanes(lanesOf({ sessionId }), { last: MOST_MESSAGES })
  return found.filter((one) => one.seq >= firstSeq && one.seq <= lastSeq && messageOf(one).origin?.channel === channel)
}

/** Messages from the messenger that wait for the session. */
export async function waitingMessages(
  store: Pick<Store, "deliveries">,
  { channel, sessionId }: Pick<WaitNotice, "channel" | "sessionId">,
): Promise<Delivery[]> {
  const filter = { states: ["queued"] as const, first: MOST_MESSAGES }
  const found = await store.deliveries.ofLanes(lanesOf({ sessionId }), filter)
  return found.filter((one) => messageOf(one).origin?.channel === channel)
}

/** The earliest time to send the notice: a deliverable message has arrived by then. */
export async function waitDueAtMs(store: Pick<Store, "waitNotices">, id: string): Promise<number> {
  const notice = await store.waitNotices.byId(id)
  if (!notice || notice.endedAtMs !== null) return 0
  return notice.afterMs === null ? Number.MAX_SAFE_INTEGER : notice.sinceMs + notice.afterMs
}
