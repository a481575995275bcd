import type { Session } from "../../domain/session.ts"
import type { Store, TurnQuery } from "../../domain/store.ts"
import type { Turn } from "../../domain/turn.ts"
import { defined } from "../../lib/defined.ts"

/** A session, and until when it belongs to the conversation. */
export interface ConversationPart {
  session: Session
  untilMs?: number
}

const MOST_PARTS = 8

/** The sessions of a conversation across handoffs, oldest first. Other ancestors are skipped: agents copy their turns. */
export async function conversationOf(store: Store, session: Session): Promise<ConversationPart[]> {
  const parts: ConversationPart[] = [{ session }]
  while (parts.length < MOST_PARTS) {
    const edge = (await store.sessions.edges(parts[0]!.session.id)).find(({ kind }) => kind === "handover")
    const parent = edge && (await store.sessions.byNative(edge.parentPlatform, edge.parentNativeId))
    if (!parent || parts.some((part) => part.session.id === parent.id)) break
    parts.unshift({ session: parent, untilMs: edge.atMs })
  }
  return parts
}

/** Turns of the whole conversation; the limit applies to all parts together. */
export async function turnsOf(
  store: Store,
  parts: readonly ConversationPart[],
  query: TurnQuery = {},
): Promise<Turn[]> {
  let turns: Turn[] = []
  for (const { session, untilMs } of query.fromStart ? parts : parts.toReversed()) {
    const limit = query.limit && query.limit - turns.length
    if (limit === 0) break
    const found = await store.turns.ofSession(session.id, { ...query, ...defined({ limit, untilMs }) })
    // concat, not push(...): a session has more turns than a call may have arguments.
    turns = query.fromStart ? turns.concat(found) : found.concat(turns)
  }
  return turns
}
